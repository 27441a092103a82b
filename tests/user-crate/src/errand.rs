use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};

use anyhow::{Context as _, bail};

/// What an agent tries beside its work, for what may hold it back: `ERRAND` is a word and what it is about.
pub fn errand() -> anyhow::Result<()> {
    let Ok(errand) = env::var("ERRAND") else { return Ok(()) };
    let (what, about) = errand.split_once(' ').unwrap_or((&errand, ""));
    let number = || about.parse::<usize>().context("a number is meant");
    match what {
        "connect" => {
            TcpStream::connect(about).with_context(|| format!("cannot connect to {about}"))?;
        }
        "listen" => {
            TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
        }
        // Between folders, which is what a kernel that restricts files refuses first.
        "move" => {
            let folder = env::temp_dir().join(format!("errand-{}", std::process::id()));
            fs::create_dir_all(folder.join("there"))?;
            fs::write(folder.join("file"), "text")?;
            fs::rename(folder.join("file"), folder.join("there/file")).context("cannot move a file")?;
            fs::remove_dir_all(folder)?;
        }
        "allocate" => Vec::<u8>::new().try_reserve_exact(number()? << 20).context("cannot allocate")?,
        "open" => {
            let files = (0..number()?).map(|_| File::open("/dev/null"));
            files.collect::<io::Result<Vec<_>>>().context("cannot open")?;
        }
        "print" => io::stdout().write_all(&vec![b'.'; number()?])?,
        "fail" => bail!("the errand failed"),
        other => bail!("{other} is no errand"),
    }
    Ok(())
}

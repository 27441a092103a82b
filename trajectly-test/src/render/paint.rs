//! Colours, or none.

use std::fmt::Display;

use anstyle::{AnsiColor, Effects, Style};

/// Whether text is coloured. The caller decides; nothing here looks at a terminal or at the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    colour: bool,
}

/// What a piece of text is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    /// A verdict, a code, a mark under what is at fault.
    Fault,
    /// What carries the eye from line to line: arrows, bars, line numbers.
    Frame,
    /// Words that introduce a note, a column or a command.
    Word,
    /// What is to be read first after the fault.
    Title,
    /// What was, and is no more.
    Old,
    /// What is now.
    New,
    /// The part of an old line that changed.
    OldPart,
    /// The part of a new line that changed.
    NewPart,
    /// What matters least.
    Aside,
}

impl Paint {
    /// Text without a single escape sequence.
    pub(crate) const fn plain() -> Self {
        Self { colour: false }
    }

    /// Text with ANSI escape sequences.
    pub(crate) const fn coloured() -> Self {
        Self { colour: true }
    }

    /// The text in the style of its role.
    pub(super) fn text(self, role: Role, text: impl Display) -> String {
        if !self.colour {
            return text.to_string();
        }
        let style = role.style();
        format!("{style}{text}{style:#}")
    }
}

impl Role {
    fn style(self) -> Style {
        let strong = Effects::BOLD | Effects::UNDERLINE;
        match self {
            Role::Fault => AnsiColor::BrightRed.on_default().bold(),
            Role::Frame => AnsiColor::BrightBlue.on_default().bold(),
            Role::Word => AnsiColor::BrightCyan.on_default().bold(),
            Role::Title => Style::new().bold(),
            Role::Old => AnsiColor::Red.on_default(),
            Role::New => AnsiColor::Green.on_default(),
            Role::OldPart => AnsiColor::Red.on_default().effects(strong),
            Role::NewPart => AnsiColor::Green.on_default().effects(strong),
            Role::Aside => Style::new().dimmed(),
        }
    }
}

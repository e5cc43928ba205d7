//! `type = "command"`

use crate::destinations::settings::*;

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." CommandKeys {
        args: Vec<String>, Kind::Templates, "its arguments", default("[]");
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "command",
    keys: &[&[SharedKeys::program], CommandKeys::KEYS, &[SharedKeys::timeout, SharedKeys::on_lost_reply]],
    check: |at| Some(Arc::new(command(at)?)),
    presets: presets!("program"),
};

/// `type = "command"`
#[derive(Debug, Clone)]
pub struct CommandConfig {
    /// NAME of the destination.
    pub name: String,
    /// The program: an absolute path, or a name to be found in PATH.
    pub program: PathBuf,
    /// One template for each argument.
    pub args: Vec<Arc<Template>>,
    /// The program is killed after this time, and the delivery is tried again later.
    pub timeout: Duration,
    /// What to do with a document if the program, or docsyncd itself, was interrupted.
    pub on_lost_reply: LostReply,
}

impl Settings for CommandConfig {
    fn place(&self) -> Option<String> {
        Some(self.program.display().to_string())
    }

    fn shows_letters(&self) -> bool {
        false
    }
}

fn command(at: &mut At<'_, '_>) -> Option<CommandConfig> {
    let (raw, own): (SharedKeys, CommandKeys) = (at.read()?, at.read()?);
    own_file(at, "program");
    let args: Vec<Option<Arc<Template>>> =
        own.args.iter().map(|source| template(at, "args", TemplateKind::Argument, source)).collect();
    Some(CommandConfig {
        name: at.name(),
        program: program(at, raw.program?),
        args: args.into_iter().collect::<Option<_>>()?,
        timeout: raw.timeout?,
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
    })
}

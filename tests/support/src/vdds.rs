//! An archive of a practice software that takes letters by VDDS-media, stage 6, and fails on demand. Its program is the
//! test's own program, called by a script to run one test alone, which does nothing but [`play`] it. It knows the rules
//! of the INI files by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What the script tells the program: the archive's folder, and the INI file that it was started with.
const FOLDER: &str = "FAKE_ARCHIVE";
const INI: &str = "FAKE_ARCHIVE_INI";
/// Set where it works on after its program has ended.
const BEHIND: &str = "FAKE_ARCHIVE_BEHIND";

/// The section of `VDDS_MMI.INI` that has its program.
pub const SECTION: &str = "PVS_ARCHIV";

/// The words that an archive says of a patient, and nobody must hear.
pub const WORDS: &str = "Canaryworth ist unbekannt";

/// An archive, whatever is in its folder: the program, `VDDS_MMI.INI`, and what it has.
pub struct Archive(TempDir);

impl Archive {
    /// `player` is the whole name of the test that plays it.
    pub fn new(player: &str) -> Self {
        let archive = Self(tempfile::tempdir().unwrap());
        for folder in ["objects", "patients", "faults", "called"] {
            fs::create_dir(archive.path(folder)).unwrap();
        }
        let (program, folder) = (std::env::current_exe().unwrap(), archive.0.path().display().to_string());
        write_script(&archive.program(), &folder, &program, player);
        archive.enter();
        archive
    }

    /// Enters itself in `VDDS_MMI.INI`, and nobody else.
    pub fn enter(&self) {
        let program = self.program();
        let mmi = format!(
            "; J\u{f6}rg\r\n[PVS]\r\nNAME1=CDP_Z1\r\nARCHIV={SECTION}\r\n[{SECTION}]\r\nMMOINFIMPORT={}\r\nMMOINFIMPORT_OS=1\r\n\
             [BVS]\r\nNAME1=CONVIS\r\n[CONVIS]\r\nNAME=ConVis\r\n",
            program.display()
        );
        fs::write(self.mmi(), latin(&mmi)).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What WINDIR has to be, so that it is found.
    pub fn windows(&self) -> String {
        self.0.path().display().to_string()
    }

    pub fn mmi(&self) -> PathBuf {
        self.path("VDDS_MMI.INI")
    }

    /// MMOINFIMPORT
    pub fn program(&self) -> PathBuf {
        self.path(if cfg!(windows) { "mmoinfim.cmd" } else { "mmoinfim" })
    }

    /// What it does instead, at the next letter that has no fault yet: see [`play`].
    pub fn inject(&self, fault: &str) {
        let number = fs::read_dir(self.path("faults")).unwrap().count();
        fs::write(self.path("faults").join(format!("{number:04}")), fault).unwrap();
    }

    /// What it has, by the numbers of the objects.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        read_all(&self.path("objects"))
    }

    /// Whose they are.
    pub fn patients(&self) -> BTreeMap<String, Vec<u8>> {
        read_all(&self.path("patients"))
    }

    /// Kills its program where it works for the letter that was announced last, if it does.
    #[cfg(unix)]
    pub fn kill(&self) {
        let started = |entry: &fs::DirEntry| entry.metadata().unwrap().modified().unwrap();
        let calls = fs::read_dir(self.path("called")).unwrap().map(Result::unwrap);
        let last = calls.max_by_key(started).map(|entry| fs::read_to_string(entry.path()).unwrap());
        let _ = Command::new("kill").args(["-KILL", &last.unwrap()]).stderr(Stdio::null()).status();
    }

    /// How often its program was started for each object.
    pub fn calls(&self) -> BTreeMap<String, usize> {
        let mut calls = BTreeMap::new();
        for name in read_all(&self.path("called")).keys() {
            *calls.entry(name.split('-').next().unwrap().to_owned()).or_default() += 1;
        }
        calls
    }
}

fn read_all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[cfg(unix)]
fn write_script(path: &Path, folder: &str, program: &Path, player: &str) {
    let (program, text) = (program.display(), "#!/bin/sh\n");
    let text = format!("{text}{FOLDER}='{folder}' {INI}=\"$1\" exec '{program}' --exact '{player}' --nocapture\n");
    // By another process: what this one had open for writing, a child of another test may hold open, and then it cannot
    // be started.
    let write = "printf %s \"$1\" > \"$2\" && chmod 700 \"$2\"";
    let written = Command::new("/bin/sh").args(["-c", write, "sh", &text]).arg(path).status().unwrap();
    assert!(written.success());
}

#[cfg(windows)]
fn write_script(path: &Path, folder: &str, program: &Path, player: &str) {
    let program = program.display();
    let text = format!(
        "@set {FOLDER}={folder}\r\n@set {INI}=%~1\r\n@\"{program}\" --exact {player} --nocapture\r\n@exit /b %ERRORLEVEL%\r\n"
    );
    fs::write(path, text).unwrap();
}

/// Plays the archive's program where the script has called it, and never returns then. Faults, one for each call:
/// - `silent`: ends and never answers; `hang`: never ends;
/// - `refuse N`: ERRORLEVEL=N; `refuse-late N`: READY first, and that a moment later, when the program has ended;
/// - `other`: READY=1 for another object; `half`: READY=1 and no level; `garbage`: no INI file;
/// - `crash`: ends in the middle, before it has anything; `crash-late`: with everything but the answer;
/// - `unfetched`: answers that it has the letter, and has not;
/// - `lock`: keeps the file to itself for a moment; `twice`: asks for the PDF twice;
/// - `behind`: its program ends at once, and it works on for a second; `slow`: its program takes a second.
#[expect(clippy::zombie_processes, reason = "its child works on behind it")]
pub fn play() {
    let (Some(folder), Some(ini)) = (std::env::var_os(FOLDER), std::env::var_os(INI)) else { return };
    let (folder, ini) = (PathBuf::from(folder), PathBuf::from(ini));
    let said = Said::read(&ini);
    let id = said.get("MMO1", "MMOID");
    let behind = std::env::var(BEHIND).ok();
    if behind.is_none() {
        let call = (0..).map(|number| folder.join("called").join(format!("{id}-{number}"))).find(|path| !path.exists());
        fs::write(call.unwrap(), std::process::id().to_string()).unwrap();
    }
    let fault = behind.clone().unwrap_or_else(|| next_fault(&folder));
    let (fault, level) = fault.split_once(' ').unwrap_or((&fault, "0"));
    match fault {
        "silent" => exit(0),
        "hang" => loop {
            sleep(Duration::from_secs(60));
        },
        "crash" => std::process::abort(),
        "refuse" => said.answer(&[("ERRORLEVEL", level), ("ERRORTEXT", WORDS), ("READY", "1")], &ini),
        "other" => said.but("MMOID", "00000000000000000000").answer(&[("READY", "1")], &ini),
        "half" => said.without("ERRORLEVEL").answer(&[("READY", "1")], &ini),
        "garbage" => fs::write(&ini, [0, 159, 146, 150, 10, 91]).unwrap(),
        "unfetched" => said.answer(&[("READY", "1")], &ini),
        "refuse-late" | "behind" if behind.is_none() => {
            let mut again = Command::new(std::env::current_exe().unwrap());
            again.args(std::env::args_os().skip(1)).env(BEHIND, format!("{fault} {level}"));
            again.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        }
        "refuse-late" => {
            said.answer(&[("READY", "1")], &ini);
            sleep(Duration::from_millis(150));
            Said::read(&ini).answer(&[("ERRORLEVEL", level)], &ini);
        }
        _ => {
            if ["behind", "slow"].contains(&fault) {
                sleep(Duration::from_secs(1));
            }
            let incomplete: Vec<&str> =
                FIELDS.iter().filter(|(section, key)| said.get(section, key).is_empty()).map(|(_, key)| *key).collect();
            // As one archive is known to do.
            if !incomplete.is_empty() {
                said.answer(&[("ERRORLEVEL", "12"), ("ERRORTEXT", &incomplete.join(" ")), ("READY", "1")], &ini);
                exit(0);
            }
            if fault == "twice" {
                fetch(&folder, &said, &ini);
            }
            let pdf = fetch(&folder, &said, &ini);
            let content = fs::read(&pdf).unwrap();
            fs::remove_file(&pdf).unwrap();
            let whole = folder.join(format!("{id}-{}", std::process::id()));
            fs::write(&whole, content).unwrap();
            fs::rename(&whole, folder.join("objects").join(&id)).unwrap();
            fs::write(folder.join("patients").join(&id), said.get("PATID", "PATID")).unwrap();
            if fault == "crash-late" {
                std::process::abort();
            }
            if fault == "lock" {
                lock(&ini);
            }
            said.answer(&[("READY", "1")], &ini);
        }
    }
    exit(0);
}

const FIELDS: [(&str, &str); 15] = [
    ("PATID", "BVS"),
    ("PATID", "PRXNR"),
    ("PATID", "PATID"),
    ("PATID", "READY"),
    ("PATID", "ERRORLEVEL"),
    ("MMOS", "COUNT"),
    ("MMO1", "MMOID"),
    ("MMO1", "PRXNR"),
    ("MMO1", "TYPE"),
    ("MMO1", "TYPENR"),
    ("MMO1", "EXT"),
    ("MMO1", "COLORTYPE"),
    ("MMO1", "DATE"),
    ("MMO1", "TIME"),
    ("MMO1", "COMMENT"),
];

/// Removing it is what one of several that run at once succeeds in.
fn next_fault(folder: &Path) -> String {
    for (name, fault) in read_all(&folder.join("faults")) {
        let path = folder.join("faults").join(name);
        if !fault.is_empty() && fs::write(&path, "").is_ok() {
            return String::from_utf8(fault).unwrap();
        }
    }
    String::new()
}

/// Nobody else can read the file for a moment.
fn lock(ini: &Path) {
    let aside = ini.with_extension("locked");
    #[cfg(windows)]
    {
        let mut alone = fs::OpenOptions::new();
        std::os::windows::fs::OpenOptionsExt::share_mode(alone.read(true), 0);
        let _alone = alone.open(ini).unwrap();
        sleep(Duration::from_millis(700));
    }
    fs::rename(ini, &aside).unwrap();
    sleep(Duration::from_millis(700));
    fs::rename(&aside, ini).unwrap();
}

/// Asks who announced the letter for its PDF, as `VDDS_MMI.INI` says; where it names nobody, it lies beside the
/// announcement.
fn fetch(folder: &Path, said: &Said, ini: &Path) -> PathBuf {
    let mmi = Said::read(&folder.join("VDDS_MMI.INI"));
    let export = mmi.get(&said.get("PATID", "BVS"), "MMOEXPORT");
    if export.is_empty() {
        return ini.with_extension("pdf");
    }
    let asked = tempfile::Builder::new().prefix("MME").suffix(".tmp").tempfile().unwrap().into_temp_path();
    let id = said.get("MMO1", "MMOID");
    fs::write(&asked, format!("[MMOIDS]\r\nPVS=CDP_Z1\r\nCOUNT=1\r\nMMOID1={id}\r\nREADY=0\r\nERRORLEVEL=0\r\n"))
        .unwrap();
    let mut program = Command::new(export);
    program.arg(&*asked).stdout(Stdio::null()).stdin(Stdio::null());
    let ended = program.status().unwrap();
    let begun = Instant::now();
    loop {
        let answer = Said::read(&asked);
        if answer.get("MMOIDS", "READY") == "1" {
            assert!(ended.success() && answer.get("MMOIDS", "ERRORLEVEL") == "0", "{ended}: {answer:?}");
            return answer.get("MMOPATH", "MMOID1").into();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "no answer: {ended}: {answer:?}");
        sleep(Duration::from_millis(100));
    }
}

/// An INI file, line by line.
#[derive(Debug, Clone)]
struct Said(Vec<String>);

impl Said {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_default();
        Self(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().lines().map(str::to_owned).collect())
    }

    /// Empty where there is none.
    fn get(&self, section: &str, key: &str) -> String {
        let of_section = self.0.iter().skip_while(|line| **line != format!("[{section}]")).skip(1);
        let mut lines = of_section.take_while(|line| !line.starts_with('['));
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned)).unwrap_or_default()
    }

    fn but(&self, key: &str, value: &str) -> Self {
        let begin = format!("{key}=");
        Self(
            self.0
                .iter()
                .map(|line| if line.starts_with(&begin) { format!("{begin}{value}") } else { line.clone() })
                .collect(),
        )
    }

    fn without(&self, key: &str) -> Self {
        let begin = format!("{key}=");
        Self(self.0.iter().filter(|line| !line.starts_with(&begin)).cloned().collect())
    }

    /// Writes the whole file for each value, as Windows does (WritePrivateProfileString).
    fn answer(&self, values: &[(&str, &str)], ini: &Path) {
        let mut said = self.clone();
        for (key, value) in values {
            if said.0.iter().any(|line| line.starts_with(&format!("{key}="))) {
                said = said.but(key, value);
            } else {
                said.0.insert(1, format!("{key}={value}"));
            }
            let text: String = said.0.iter().map(|line| format!("{line}\r\n")).collect();
            fs::write(ini, latin(&text)).unwrap();
        }
    }
}

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

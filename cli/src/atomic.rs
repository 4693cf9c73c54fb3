//! Files that appear whole or not at all: written beside their target, synced, renamed; all files of one result or none.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use cuzk_core::format::{self, FormatError};
use tempfile::{NamedTempFile, TempPath};

use crate::exit::{Failure, Result};

/// Writes the content of one file.
pub type Content<'a> = Box<dyn FnOnce(&mut dyn Write) -> format::Result<()> + 'a>;

/// Bytes already in memory as the content of a file.
pub fn bytes<'a>(bytes: Vec<u8>) -> Content<'a> {
    Box::new(move |out| out.write_all(&bytes).map_err(|e| FormatError::io("output", e)))
}

/// The files a command will write, checked before the work begins.
#[derive(Debug)]
pub struct Outputs {
    targets: Vec<Target>,
}

#[derive(Debug)]
struct Target {
    /// As the user named it, for messages.
    named: PathBuf,
    /// With links followed, so that a link stays a link.
    path: PathBuf,
    /// A pipe or a character device: written to, never replaced.
    special: bool,
}

impl Outputs {
    /// Refuses, before any work: an output that is an input, two outputs that are one file, a folder in a file's place, a folder that is
    /// missing or cannot be written to.
    pub fn prepare(outputs: &[&Path], inputs: &[&Path]) -> Result<Self> {
        let targets = outputs.iter().map(|path| Target::new(path)).collect::<Result<Vec<_>>>()?;
        for (i, target) in targets.iter().enumerate() {
            if let Some(input) = inputs.iter().find(|input| same_file(&target.path, input)) {
                let (out, input) = (target.named.display(), input.display());
                return Err(Failure::usage(format!(
                    "{out}: is the input {input}: name another file for the output"
                )));
            }
            if targets.iter().take(i).any(|other| !target.special && same_file(&target.path, &other.path)) {
                return Err(Failure::usage(format!("{}: named for two outputs", target.named.display())));
            }
        }
        for target in targets.iter().filter(|t| !t.special) {
            // Made and dropped: a folder that cannot be written to is found before the work, not after it.
            target.temporary()?;
        }
        Ok(Self { targets })
    }

    /// Writes all files, one content for each in the order of `prepare`.
    pub fn commit(self, contents: Vec<Content<'_>>) -> Result<()> {
        self.commit_with(contents, |from, to| fs::hard_link(from, to))
    }

    fn commit_with(self, contents: Vec<Content<'_>>, link: Link) -> Result<()> {
        let mut staged = Vec::new();
        let mut special = Vec::new();
        for (target, content) in self.targets.iter().zip(contents) {
            if target.special {
                special.push((target, content));
                continue;
            }
            let mut file = target.temporary()?;
            target.fill(file.as_file_mut(), content)?;
            file.as_file().sync_all().map_err(|e| Failure::io(&target.named, &e))?;
            staged.push((target, file.into_temp_path()));
        }
        for (target, content) in special {
            let file = fs::OpenOptions::new().write(true).open(&target.path);
            target.fill(&mut file.map_err(|e| Failure::io(&target.named, &e))?, content)?;
        }
        place(staged, link)
    }
}

/// Makes a second name for a file, as [`fs::hard_link`] does where the file system has links.
type Link = fn(&Path, &Path) -> io::Result<()>;

/// Renames all, or puts back what was there.
fn place(staged: Vec<(&Target, TempPath)>, link: Link) -> Result<()> {
    let mut placed: Vec<(&Target, Backup)> = Vec::new();
    let several = staged.len() > 1;
    for (target, temporary) in staged {
        // One rename happens or does not: nothing has to be put back.
        let backup = if several { target.backup(link) } else { Ok(Backup::Nothing) };
        let error = match backup {
            Ok(backup) => match temporary.persist(&target.path) {
                Ok(()) => {
                    placed.push((target, backup));
                    continue;
                }
                Err(error) => {
                    let failure = Failure::io(&target.named, &error.error);
                    match backup {
                        Backup::Moved(old) => restore(old, target, failure),
                        Backup::Nothing | Backup::Linked(_) => failure,
                    }
                }
            },
            Err(failure) => failure,
        };
        return Err(placed.into_iter().fold(error, |failure, (target, backup)| match backup {
            Backup::Linked(old) | Backup::Moved(old) => restore(old, target, failure),
            Backup::Nothing => {
                // What cannot be removed is new and whole; the error is about another file.
                let _ = fs::remove_file(&target.path);
                failure
            }
        }));
    }
    Ok(())
}

/// Puts the old content back. Where even that fails it stays under its other name, which the error then tells.
fn restore(old: TempPath, target: &Target, failure: Failure) -> Failure {
    match old.persist(&target.path) {
        Ok(()) => failure,
        Err(stuck) => match stuck.path.keep() {
            Ok(kept) => Failure::new(
                failure.exit,
                format!("{}; the old {} is now {}", failure.message, target.named.display(), kept.display()),
            ),
            Err(_) => failure,
        },
    }
}

/// What was in a target's place.
enum Backup {
    /// Nothing, so that what is put there may be removed again.
    Nothing,
    /// This second name is of the same file.
    Linked(TempPath),
    /// The file system has no links: the file itself now has this name.
    Moved(TempPath),
}

impl Target {
    fn new(named: &Path) -> Result<Self> {
        let path = follow(named)?;
        let special = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                let message = format!("{}: is a folder: name a file in it", named.display());
                return Err(Failure::usage(message));
            }
            Ok(found) => !found.is_file(),
            Err(_) => false,
        };
        if named.file_name().is_none() {
            return Err(Failure::usage(format!("{}: not a file name", named.display())));
        }
        Ok(Self { named: named.to_owned(), path, special })
    }

    fn fill(&self, file: &mut File, content: Content<'_>) -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let written = content(&mut out).map_err(|error| match error {
            FormatError::Io { source, .. } => Failure::io(&self.named, &source),
            other => Failure::from(other).within(self.named.display()),
        });
        written.and_then(|()| out.flush().map_err(|e| Failure::io(&self.named, &e)))
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// A temporary file in the target's folder, with the permissions of an ordinary new file.
    fn temporary(&self) -> Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".cuzk-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(self.folder()).map_err(|error| {
            // tempfile puts the temporary's path into the message; the user knows the folder.
            let error = error.raw_os_error().map_or(error, io::Error::from_raw_os_error);
            let failure = Failure::io(self.folder(), &error);
            failure.within(format!("{}: cannot write into the folder", self.named.display()))
        })
    }

    /// Keeps what is there now, to put it back from.
    fn backup(&self, link: Link) -> Result<Backup> {
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.is_file() => {}
            // A folder is not replaced: the rename will fail.
            _ => return Ok(Backup::Nothing),
        }
        let name = self.temporary()?.into_temp_path();
        let io = |e| Failure::io(&self.named, &e);
        fs::remove_file(&name).map_err(io)?;
        if link(&self.path, &name).is_ok() {
            return Ok(Backup::Linked(name));
        }
        fs::rename(&self.path, &name).map_err(io)?;
        Ok(Backup::Moved(name))
    }
}

/// Where a name leads through symbolic links, whether or not there is a file at the end.
fn follow(named: &Path) -> Result<PathBuf> {
    if let Ok(path) = fs::canonicalize(named) {
        return Ok(path);
    }
    if fs::metadata(named).is_ok() {
        // Something without a path of its own, as /dev/stdout is where it is a pipe.
        return Ok(named.to_owned());
    }
    let mut path = named.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(Failure::usage(format!("{}: too many symbolic links", named.display())))
}

/// Whether two paths name one existing file, through links of either sort.
fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(a), fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    absolute(a) == absolute(b)
}

/// The path with its folder resolved; the file itself may not exist yet.
fn absolute(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    fn text(s: &str) -> Content<'_> {
        bytes(s.into())
    }

    #[test]
    fn all_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "old").unwrap();
        let failing: Content<'_> =
            Box::new(|_| Err(FormatError::io("output", io::ErrorKind::StorageFull.into())));
        let error = Outputs::prepare(&[&a, &b], &[]).unwrap().commit(vec![text("new"), failing]).unwrap_err();
        assert_eq!(error.exit, Exit::Io);
        assert_eq!(fs::read_to_string(&a).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");

        // The second rename fails: the first file gets its content back, also on a file system without links.
        let no_links: Link = |_, _| Err(io::ErrorKind::Unsupported.into());
        let links: Link = |from, to| fs::hard_link(from, to);
        for link in [links, no_links] {
            let outputs = Outputs::prepare(&[&a, &b], &[]).unwrap();
            fs::create_dir(&b).unwrap();
            outputs.commit_with(vec![text("new"), text("new")], link).unwrap_err();
            assert_eq!(fs::read_to_string(&a).unwrap(), "old");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");
            fs::remove_dir(&b).unwrap();
            // What was not there before is not there after.
            let c = dir.path().join("c");
            let outputs = Outputs::prepare(&[&c, &b], &[]).unwrap();
            fs::create_dir(&b).unwrap();
            outputs.commit_with(vec![text("new"), text("new")], link).unwrap_err();
            assert!(!c.exists());
            fs::remove_dir(&b).unwrap();
        }
        Outputs::prepare(&[&a, &b], &[]).unwrap().commit_with(vec![text("0"), text("0")], no_links).unwrap();

        Outputs::prepare(&[&a, &b], &[]).unwrap().commit(vec![text("1"), text("2")]).unwrap();
        assert_eq!(
            (fs::read_to_string(&a).unwrap(), fs::read_to_string(&b).unwrap()),
            ("1".into(), "2".into())
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn refusals() {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("in");
        fs::write(&input, "x").unwrap();
        let link = dir.path().join("hard");
        fs::hard_link(&input, &link).unwrap();
        let exit = |outputs: &[&Path], inputs: &[&Path]| Outputs::prepare(outputs, inputs).unwrap_err().exit;
        assert_eq!(exit(&[&input], &[&input]), Exit::Usage);
        assert_eq!(exit(&[&link], &[&input]), Exit::Usage);
        assert_eq!(exit(&[dir.path()], &[]), Exit::Usage);
        assert_eq!(exit(&[&dir.path().join("no/such")], &[]), Exit::Usage);
        let new = dir.path().join("new");
        assert_eq!(exit(&[&new, &dir.path().join("./new")], &[]), Exit::Usage);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        Outputs::prepare(&[&link], &[]).unwrap().commit(vec![text("new")]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");

        // A link to a file that is not there yet.
        fs::remove_file(&real).unwrap();
        Outputs::prepare(&[&link], &[]).unwrap().commit(vec![text("again")]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "again");
        let circle = dir.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        assert_eq!(Outputs::prepare(&[&circle], &[]).unwrap_err().exit, Exit::Usage);

        let full = Path::new("/dev/full");
        if full.exists() {
            let error = Outputs::prepare(&[full], &[]).unwrap().commit(vec![text("x")]).unwrap_err();
            assert_eq!(error.exit, Exit::Io);
            assert!(full.exists());
        }
    }
}

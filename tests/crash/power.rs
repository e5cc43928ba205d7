//! Power cuts: the practice's disks are ext4 images, and EXT4_IOC_SHUTDOWN throws away at one instant everything that
//! was not forced to them. One image holds the destinations, the other ledger, spool and sign-ins, so that neither's
//! fsync can make the other's names durable.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::ioctl;

use crate::arguments::Arguments;
use crate::cycle::{self, Plan};
use crate::oracle;
use crate::plan::{self, Story};
use crate::table::Table;
use crate::world::World;

/// `_IOR('X', 125, __u32)` (Linux, fs/ext4/ext4.h).
const EXT4_IOC_SHUTDOWN: ioctl::Opcode = 0x8004_587d;
/// Neither data nor the journal is written any more (Linux, EXT4_GOING_FLAGS_NOLOGFLUSH).
const NO_LOG_FLUSH: u32 = 2;
/// Sparse, so it costs what is written.
const IMAGE_BYTES: u64 = 64 * 1024 * 1024;
/// Lives of one practice: every one of them takes a remount.
const LIVES: usize = 25;
/// A program that docsyncd started may outlive it for a moment and keep its disk busy.
const BUSY_LIMIT: Duration = Duration::from_secs(20);

/// Cuts the power so often: at points, right when the process dies there, and at random times while it works.
pub async fn cut(arguments: &Arguments, cuts: usize, mut random: Rng) -> Result<Table, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("power cuts need root: they mount file systems".to_owned());
    }
    if Command::new("mkfs.ext4").arg("-V").output().is_err() {
        return Err("power cuts need mkfs.ext4: install e2fsprogs".to_owned());
    }
    let mut plans = plan::plans(arguments, cuts, &mut random);
    let mut table = Table::default();
    while !plans.is_empty() {
        let some = plans.drain(..plans.len().min(LIVES)).collect();
        table.add(practice(some, random.fork()).await);
    }
    Ok(table)
}

async fn practice(plans: Vec<Plan>, random: Rng) -> Table {
    let mut world = World::new(random).await;
    let mut disks = [
        Disk::new(world.practice.path("disk.img"), world.disk()),
        Disk::new(world.practice.path("state.img"), world.state()),
    ];
    world.furnish().await;
    // What furnishes a practice is on its disks long before the first cut.
    disks.iter_mut().for_each(Disk::remount);
    let mut table = Table { practices: 1, ..Table::default() };
    for plan in plans {
        let story = Story::of(&world, plan);
        let how = world.random.u8(..3);
        let (death, running) = match plan {
            Plan::AtRandom(_) if how == 0 => {
                let lived = cycle::find_and_report(&mut world).await;
                cut_all(&disks, &mut world.random);
                lived
            }
            Plan::AtRandom(_) if how == 1 => {
                // The power goes while it works; what it makes of the errors until it is gone as well must do no harm.
                let mut running = cycle::live_on(&mut world, plan).await;
                cut_all(&disks, &mut world.random);
                running.kill().await;
                (cycle::Death::AtRandom, running)
            }
            _ => {
                let lived = cycle::live(&mut world, plan).await;
                cut_all(&disks, &mut world.random);
                lived
            }
        };
        disks.iter_mut().for_each(Disk::remount);
        story.check(&mut world, Some(&running), oracle::at_death);
        table.count(death);
        table.power_cuts += 1;
    }
    plan::end(&mut world, &mut table).await;
    drop(disks);
    table
}

fn cut_all(disks: &[Disk; 2], random: &mut Rng) {
    let first = random.usize(..2);
    disks[first].cut();
    disks[1 - first].cut();
}

/// An ext4 image, mounted.
struct Disk {
    image: PathBuf,
    at: PathBuf,
    cuts: usize,
}

impl Disk {
    fn new(image: PathBuf, at: PathBuf) -> Self {
        File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
        std::fs::create_dir_all(&at).unwrap();
        let disk = Self { image, at, cuts: 0 };
        disk.mount();
        disk
    }

    /// The file system writes by itself only every ten minutes, so only what is forced to the disk is there after a
    /// cut. Without times of access: the fsync of a folder that was only read would make what happened elsewhere
    /// durable.
    fn mount(&self) {
        run(Command::new("mount").args(["-o", "loop,commit=600,noatime"]).args([&self.image, &self.at]));
    }

    fn cut(&self) {
        let root = File::open(&self.at).unwrap();
        // SAFETY: the call reads one u32, which the setter hands it by address.
        unsafe { ioctl::ioctl(&root, ioctl::Setter::<EXT4_IOC_SHUTDOWN, u32>::new(NO_LOG_FLUSH)) }
            .expect("the power is cut");
    }

    /// A file system that another one's namespace still holds is mounted again as it is, dead. So what is mounted is a
    /// copy, which is a disk that has been through it all and that nobody knows.
    fn remount(&mut self) {
        let until = Instant::now() + BUSY_LIMIT;
        while !unmounted(&self.at) {
            assert!(Instant::now() < until, "{} stays busy", self.at.display());
            std::thread::yield_now();
        }
        let copy = self.image.with_extension(format!("{}.img", self.cuts));
        run(Command::new("cp").arg("--sparse=always").args([&self.image, &copy]));
        std::fs::remove_file(&self.image).unwrap();
        (self.image, self.cuts) = (copy, self.cuts + 1);
        self.mount();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).output();
    }
}

fn unmounted(at: &Path) -> bool {
    Command::new("umount").arg(at).output().unwrap().status.success()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

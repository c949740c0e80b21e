//! Names against the layout that the model defines, made slowly and plainly.

use super::*;
use fsarena_model::dataset::Distribution;
use proptest::prelude::*;

#[test]
fn the_first_name_is_that_of_the_model() {
    for name_bytes in [None, Some(2), Some(9), Some(40), Some(255)] {
        let dataset = Dataset { name_bytes, ..Dataset::uniform(1, 0, 0) };
        assert_eq!(FileNames::new(&dataset).unwrap().as_str(), dataset.first_name());
    }
}

/// The path of a file by its definition in the model, slowly.
fn expected(dataset: &Dataset, file: u64, letter: char) -> String {
    let digits = dataset.name_digits() as usize;
    let mut name = format!("{letter}{file:0digits$}");
    while name.len() < dataset.file_name_bytes() as usize {
        name.push('x');
    }
    if dataset.dirs == 0 {
        return name;
    }
    let dir = match dataset.dir_starts() {
        Some(starts) => starts.iter().rposition(|&start| start <= file).unwrap() as u64,
        None => file / dataset.files_per_dir(),
    };
    format!("{}/{name}", dir_path(dataset, dataset.levels(), dir))
}

fn dir_path(dataset: &Dataset, level: u32, mut number: u64) -> String {
    let mut components = vec![];
    for level in (0..level).rev() {
        let here = if level > 0 { number % dataset.fanout() } else { number };
        number /= dataset.fanout();
        components.insert(0, format!("d{here:05}"));
    }
    components.join("/")
}

fn check_all(dataset: &Dataset) {
    let mut names = FileNames::new(dataset).unwrap();
    let mut jumping = names.clone();
    for file in 0..dataset.files {
        if file > 0 {
            names.advance();
        }
        assert_eq!(names.as_str(), expected(dataset, file, 'f'), "{dataset:?}");
        jumping.set(file as u32);
        assert_eq!(jumping.as_c_str(), names.as_c_str());
        assert_eq!(jumping.left_in_dir, names.left_in_dir);
        assert_eq!(jumping.dir(), names.dir());
        assert_eq!(jumping.dir_of(file as u32), names.dir());
    }
    for file in (0..dataset.files).rev() {
        jumping.set(file as u32);
        assert_eq!(jumping.as_str(), expected(dataset, file, 'f'), "{dataset:?}");
    }
}

#[test]
fn names_are_those_of_the_dataset() {
    for (files, dirs) in [(1, 0), (2500, 0), (2500, 7), (2500, 2500), (3, 10), (120_000, 100)] {
        check_all(&Dataset::uniform(files, 1, dirs));
    }
}

#[test]
fn nested_long_and_short_names() {
    for (dirs, depth) in [(1, 5), (8, 3), (10, 2), (100, 4), (7, 64)] {
        check_all(&Dataset { depth, ..Dataset::uniform(1000, 1, dirs) });
    }
    for name_bytes in [2, 4, 8, 9, 10, 255] {
        let files = 10u64.pow(name_bytes.min(4) - 1);
        check_all(&Dataset {
            name_bytes: Some(name_bytes),
            depth: 2,
            ..Dataset::uniform(files, 1, 3)
        });
    }
}

#[test]
fn directories_with_drawn_numbers_of_files() {
    for values in [vec![(0, 3), (1, 1), (40, 1)], vec![(5, 1)], vec![(0, 9), (100, 1)]] {
        let per_dir = Distribution::Weighted { values };
        let files = Dataset::files_of(60, &per_dir);
        check_all(&Dataset { per_dir: Some(per_dir), depth: 2, ..Dataset::uniform(files, 1, 60) });
    }
}

#[test]
fn second_names_and_parents() {
    let dataset = Dataset { depth: 2, ..Dataset::uniform(30, 1, 9) };
    let mut names = FileNames::new(&dataset).unwrap();
    let mut second = names.clone();
    second.use_renamed_name(true);
    names.set(17);
    second.follow(&names);
    assert_eq!(second.as_str(), expected(&dataset, 17, 'r'));
    assert_eq!(names.as_str(), "d00001/d00001/f00000017");
    let parent = names.with_parent(|path| path.to_str().unwrap().to_owned());
    assert_eq!(parent, "d00001/d00001");
    assert_eq!(names.as_str(), "d00001/d00001/f00000017");
    second.use_renamed_name(false);
    assert_eq!(second.as_c_str(), names.as_c_str());
    let mut flat = FileNames::new(&Dataset::uniform(3, 1, 0)).unwrap();
    assert_eq!(flat.with_parent(|path| path.to_str().unwrap().to_owned()), ".");
}

#[test]
fn directories_come_before_those_in_them() {
    for (dirs, depth) in [(0, 1), (1, 1), (100, 1), (8, 3), (9, 2), (10, 2), (1, 5), (1000, 4)] {
        let dataset = Dataset { depth, ..Dataset::uniform(1, 1, dirs) };
        let mut names = DirNames::new(&dataset).unwrap();
        assert_eq!(u64::from(names.count()), dataset.directories(), "{dirs} {depth}");
        let mut seen = std::collections::HashSet::from([".".to_owned()]);
        for dir in 0..names.count() {
            names.set(dir);
            let path = names.as_str().to_owned();
            let above = path.rsplit_once('/').map_or(".", |(above, _)| above).to_owned();
            assert!(seen.contains(&above), "{path} in {dirs} {depth}");
            assert_eq!(names.parent(), names.parent_of(dir));
            let parent = names.parent();
            assert_eq!(names.with(parent, |path| path.to_str().unwrap().to_owned()), above);
            assert_eq!(names.as_str(), path, "the cursor does not move");
            assert!(seen.insert(path));
        }
        let leaves: Vec<_> =
            (0..dirs).map(|leaf| dir_path(&dataset, dataset.levels(), leaf)).collect();
        assert!(leaves.iter().all(|leaf| seen.contains(leaf)));
    }
}

#[test]
fn too_many_are_refused() {
    let refusal = |dataset: &Dataset| {
        let text = FileNames::new(dataset).unwrap_err().to_string();
        if dataset.per_dir.is_none() {
            assert_eq!(DirNames::new(dataset).unwrap_err().to_string(), text);
        }
        text
    };
    assert!(refusal(&Dataset::uniform(100_000_001, 0, 0)).contains("use fewer"));
    assert!(refusal(&Dataset::uniform(1, 0, 100_001)).contains("depth"));
    let short = Dataset { name_bytes: Some(3), ..Dataset::uniform(101, 0, 0) };
    assert!(refusal(&short).contains("at most 100 files"));
    for name_bytes in [0, 1, 256, 4000] {
        let long = Dataset { name_bytes: Some(name_bytes), ..Dataset::uniform(1, 0, 0) };
        assert!(refusal(&long).contains("NAME_MAX"));
    }
    let deep = Dataset { depth: 600, ..Dataset::uniform(1, 0, 1) };
    assert!(refusal(&deep).contains("PATH_MAX"), "{}", refusal(&deep));
    let deep = Dataset { depth: u32::MAX, ..Dataset::uniform(1, 0, 1) };
    assert!(refusal(&deep).contains("PATH_MAX"), "{}", refusal(&deep));
    let per_dir = Some(Distribution::Uniform { min: 3, max: 3 });
    let sum = Dataset { per_dir, ..Dataset::uniform(10, 0, 4) };
    assert!(refusal(&sum).contains("draws 12 for 4 directories"), "{}", refusal(&sum));
    let largest = Dataset::uniform(100_000_000, 0, MAX_FANOUT);
    let mut names = FileNames::new(&largest).unwrap();
    names.set(99_999_999);
    assert_eq!(names.as_str(), "d99999/f99999999");
    let deepest = Dataset { depth: 548, name_bytes: Some(255), ..Dataset::uniform(1, 0, 1) };
    assert_eq!(FileNames::new(&deepest).unwrap().as_str().len(), 4091);
}

proptest! {
    #[test]
    fn eight_digits_are_those_of_format(number in 0u32..100_000_000) {
        let text = format!("{number:08}");
        prop_assert_eq!(&eight_digits(number)[..], text.as_bytes());
    }

    #[test]
    fn any_layout_is_that_of_the_model(
        files in 1u64..400, dirs in 0u64..60, depth in 0u32..6, name_bytes in 4u32..40,
        drawn in proptest::option::of((0u64..4, 4u64..20)),
    ) {
        let mut dataset =
            Dataset { depth, name_bytes: Some(name_bytes), ..Dataset::uniform(files, 1, dirs) };
        if let Some((min, max)) = drawn && dirs > 0 {
            let per_dir = Distribution::Uniform { min, max };
            dataset.files = Dataset::files_of(dirs, &per_dir);
            dataset.per_dir = Some(per_dir);
        }
        check_all(&dataset);
    }
}

#[test]
fn names_lie_in_the_directory_of_their_file() {
    for (depth, dirs, dir) in [(0, 0, ""), (1, 7, "d00002/"), (2, 7, "d00000/d00002/")] {
        let dataset = Dataset { depth, ..Dataset::uniform(700, 1, dirs) };
        let mut names = FileNames::new(&dataset).unwrap();
        names.set(234);
        let mut sibling = SiblingNames::new(&dataset).unwrap();
        sibling.take_cycle(12);
        assert_eq!(sibling.set(&names, b't', 234).to_str(), Ok(&*format!("{dir}t00012-00000234")));
        sibling.take_cycle(65_535);
        sibling.set(&names, b'n', 99_999_999);
        assert_eq!(sibling.as_str(), format!("{dir}n65535-99999999"));
    }
    let short = Dataset { name_bytes: Some(2), ..Dataset::uniform(9, 1, 0) };
    assert_eq!(SiblingNames::new(&short).unwrap().as_str(), "n00000-00000000");
    let deep = Dataset { depth: 584, name_bytes: Some(7), ..Dataset::uniform(9, 1, 1) };
    FileNames::new(&deep).unwrap();
    assert!(matches!(SiblingNames::new(&deep), Err(NameError::Path { levels: 584, .. })));
}

//! Decisions of a seed about a whole life of a vault.

use super::chance::Chance;

/// Rates of events in a life. A number of calls is the mean distance of events; 0 is never.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) processes: usize,
    pub(super) devices: usize,
    pub(super) caches: usize,
    pub(super) epochs: usize,
    pub(super) operations: usize,
    pub(super) switch: usize,
    pub(super) edit: usize,
    pub(super) write_back: usize,
    pub(super) kill: usize,
    pub(super) cut: usize,
    pub(super) error: usize,
    pub(super) pull: usize,
    /// Failing openings of folders while a project moves.
    pub(super) moving: usize,
    pub(super) clock_jump: usize,
    pub(super) has_stick: bool,
    pub(super) has_exchange: bool,
    pub(super) knows_boot: bool,
    pub(super) has_vacuum: bool,
    pub(super) has_move: bool,
    pub(super) has_backup: bool,
    pub(super) has_import: bool,
}

impl Rules {
    /// Chooses the rules of a life, without some parts of the world, which commas separate.
    pub(super) fn choose(left_out: &str, chance: &mut Chance) -> Self {
        let parts = left_out.split(',').filter(|part| !part.is_empty());
        parts.fold(Self::choose_all(chance), Self::without)
    }

    fn without(self, part: &str) -> Self {
        match part {
            "devices" => Self { devices: 1, ..self },
            "caches" => Self { caches: 1, ..self },
            "people" => Self { edit: 0, ..self },
            "kills" => Self { kill: 0, ..self },
            "cuts" => Self { cut: 0, ..self },
            "errors" => Self { error: 0, moving: 0, ..self },
            "clock" => Self { clock_jump: 0, ..self },
            "sticks" => Self { has_stick: false, pull: 0, ..self },
            "steps" => Self { has_exchange: true, ..self },
            "boots" => Self { knows_boot: true, ..self },
            "vacuum" => Self { has_vacuum: false, ..self },
            "moves" => Self { has_move: false, ..self },
            "backups" => Self { has_backup: false, ..self },
            "imports" => Self { has_import: false, ..self },
            other => panic!("no part of the world is called {other}"),
        }
    }

    /// One process on a machine where nothing happens by chance.
    pub(super) fn quiet() -> Self {
        Self {
            processes: 1,
            devices: 2,
            caches: 1,
            epochs: 0,
            operations: 0,
            switch: 0,
            edit: 0,
            write_back: 0,
            kill: 0,
            cut: 0,
            error: 0,
            pull: 0,
            moving: 0,
            clock_jump: 0,
            has_stick: false,
            has_exchange: true,
            knows_boot: true,
            has_vacuum: false,
            has_move: false,
            has_backup: false,
            has_import: false,
        }
    }

    fn choose_all(chance: &mut Chance) -> Self {
        let mut of = |values: &[usize]| values[chance.below(values.len())];
        let knows_boot = of(&[0, 1, 1, 1, 1]) == 1;
        let has_stick = of(&[0, 0, 1]) == 1;
        let has_move = of(&[0, 0, 0, 1]) == 1;
        let devices = if has_stick || has_move { 1 } else { of(&[1, 1, 2]) };
        Self {
            processes: of(&[1, 2, 3]),
            devices,
            caches: 2,
            epochs: of(&[3, 4, 6]),
            operations: of(&[4, 8, 12]),
            switch: of(&[2, 6, 30]),
            edit: of(&[0, 30, 100, 300]),
            write_back: of(&[0, 20, 100]),
            kill: of(&[0, 200, 800]),
            // Without an identity of its runs a machine cannot know that it lost power.
            cut: if knows_boot { of(&[0, 500, 1500, 4000]) } else { 0 },
            error: of(&[0, 0, 0, 300]),
            pull: if has_stick { of(&[300, 1000]) } else { 0 },
            moving: if has_move { 4 } else { 0 },
            clock_jump: of(&[0, 0, 0, 1000]),
            has_stick,
            has_exchange: of(&[0, 1, 1]) == 1,
            knows_boot,
            has_vacuum: of(&[0, 1]) == 1,
            has_move,
            has_backup: of(&[0, 0, 1]) == 1 && !has_stick && !has_move,
            has_import: of(&[0, 0, 0, 1]) == 1 && !has_stick && !has_move,
        }
    }
}

//! What was measured as text, Markdown, CSV, JSON and one HTML page: functions from plain values to
//! a `String` or a JSON value.
//!
//! What is shown of a RUN are sections (`sections/`, a file each), made of blocks and tables once
//! and rendered by `render/`; what is listed (devices, RUNs, datasets) is in `lists.rs`.
//!
//! Nothing here prints, asks for the width of a terminal, or computes a figure that is not in the
//! study: callers say how wide and whether in colour, and `fsarena-study` does the arithmetic.
#![forbid(unsafe_code)]

mod advice;
mod answer;
pub mod article;
mod bars;
mod campaign;
mod campaign_tables;
mod clients;
mod command;
mod compared;
mod compared_files;
mod context;
mod crash;
mod crash_application;
mod crash_compare;
mod crash_csv;
mod crash_sequences;
mod device_model;
mod doctor;
mod forest;
mod format;
mod history;
mod honesty;
mod hunt;
mod identity;
mod io_summary;
mod job;
pub mod json;
mod junit;
mod labels;
mod ledger;
mod lists;
mod medium_errors;
mod notes;
mod over_time;
mod own_article;
pub mod page;
mod phases;
mod pictures;
mod plan;
mod ranks;
mod raw;
mod render;
mod row_state;
#[cfg(feature = "schema")]
pub mod schema;
mod section;
mod sections;
mod stonewall;
mod table;
mod text;
mod text_plot;
mod verdict;

pub use advice::{Advice, AskedPhase, AskedPurpose, Kind as AdviceKind, advice, advice_text};
pub use answer::{
    Answer, AnswerCell, AnswerColumn, AnswerHead, AnswerRow, Caution, Mark, NotRunGroup,
    RunProgress, Undecided, answer, answer_text, baselines,
};
pub use article::{
    OwnPhase, OwnRun, article, article_bbcode, article_markdown, articles, in_shape_of,
};
pub use campaign::{campaign_document, campaign_text};
pub use command::{RUN_FLAGS, arguments, command, experiment_file, file_name};
pub use compared::{Compared, ComparedRow, Missing};
pub use compared_files::{compared_junit, compared_markdown};
pub use context::{Repeats, Run};
pub use crash::CrashHead;
pub use crash_application::CrashApplicationHead;
pub use crash_compare::{
    ComparedCrashRow, compare_crash_runs, compared_crash_text, crash_runs_line,
};
pub use crash_csv::crash_csv;
pub use crash_sequences::SequenceHead;
pub use device_model::{
    DeviceModel, DeviceModelAxis, DeviceModelCurve, DeviceModelCurveLine, DeviceModelLatencies,
    DeviceModelLine, DeviceModelPoint, DeviceModelRow, device_model_svg, device_model_text,
    device_models_table,
};
pub use doctor::{doctor_lines, doctor_table, noise_table};
pub use forest::{compare_json, compare_run_json, forest_tables, one_run_text, sides_tables};
pub use fsarena_chart::{PaperWidth, Svg};
pub use history::{history_json, history_markdown, history_svg, history_tables};
pub use honesty::{family_tables, honesty_tables, power_tables};
pub use identity::{EachRecord, KnownNames, NameRemoval, anonymous, anonymous_with};
pub use io_summary::files_text;
pub use json::verdict_json;
pub use ledger::ledger_tables;
pub use lists::{
    ClassLine, DatasetLine, DeviceLine, ExperimentLine, MergedLine, RunLine, ShownDataset,
    contents_text, dataset_text, datasets_table, devices_table, experiments_table, merged_table,
    runs_list,
};
pub use medium_errors::MediumErrorHead;
pub use own_article::{ArticleFile, Language, OwnArticle, own_article};
pub use phases::phase_tables;
pub use plan::{FullSize, PlanCost, PlanCostRow, PlanNeed, plan_table};
pub use raw::{csv, raw_values};
pub use row_state::RowState;
pub use sections::watched::{watched_pair_tables, watched_tables};
pub use sections::{LatexTable, latex_tables, markdown, run_text};
pub use text::{Detail, MIN_WIDTH, Style};
pub use verdict::{verdict_headline, verdict_tables};

//! Stored import reports.

use engine::api::{ApiError, Event, ImportReport, Refused};
use tests::headless::Headless;

#[tokio::test]
async fn a_report_can_be_opened_again() {
    let app = Headless::new().await;
    let report = app
        .engine
        .import_bytes("holiday.png".into(), b"no picture".to_vec())
        .await
        .unwrap();
    assert_eq!(report.refused.len(), 1);
    let app = app.restart().await;
    let kept = app.engine.list_import_reports().await.unwrap();
    assert_eq!(
        kept.iter()
            .map(|one| (one.imported, one.refused))
            .collect::<Vec<_>>(),
        [(0, 1)]
    );
    assert_eq!(
        app.engine
            .get_import_report(kept[0].id.clone())
            .await
            .unwrap(),
        report
    );
    let nothing = app
        .engine
        .get_import_report("0190a0a0-0000-7000-8000-000000000000".into())
        .await;
    assert!(matches!(nothing, Err(ApiError::NotFound { .. })));
}

#[tokio::test]
async fn a_selection_is_reported_once() {
    let app = Headless::new().await;
    let mut events = app.engine.subscribe();
    let mut whole = ImportReport::default();
    for name in ["a.png", "b.png"] {
        let one = app
            .engine
            .import_one_of_many(name.into(), b"no picture".to_vec())
            .await
            .unwrap();
        whole.refused.extend(one.refused);
    }
    app.engine.keep_import_report(whole.clone()).await.unwrap();
    assert_eq!(app.engine.list_import_reports().await.unwrap().len(), 1);
    loop {
        if let Event::Imported { report } = events.next().await.unwrap() {
            assert_eq!(report, whole);
            break;
        }
    }
}

#[tokio::test]
async fn only_the_newest_reports_are_kept() {
    let app = Headless::new().await;
    for number in 0..55 {
        let refused = Refused {
            file: format!("{number}.png"),
            kind: "noCard".into(),
            reason: "No card.".into(),
        };
        let report = ImportReport {
            refused: vec![refused; 2_100],
            ..ImportReport::default()
        };
        app.engine.keep_import_report(report).await.unwrap();
    }
    let kept = app.engine.list_import_reports().await.unwrap();
    assert_eq!((kept.len(), kept[0].refused), (50, 2_100));
    let newest = app
        .engine
        .get_import_report(kept[0].id.clone())
        .await
        .unwrap();
    assert_eq!(
        (newest.refused.len(), newest.refused[0].file.as_str()),
        (2_000, "54.png")
    );
}

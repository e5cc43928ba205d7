//! "Resources and their fields", table Organization, and "Endpoints", table Organization.

use crate::harness::text;
use crate::records::ORGANIZATION;
use crate::samples;
use crate::shape::Seen;

/// The practice, wherever the API shows it, in both versions.
async fn seen() -> Seen {
    let practice = samples::practice(2).await;
    let user = format!("/users/{}", samples::uuid_of(&practice, "mine").await);
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        let list = practice.in_version(version, "/organizations").await.fine();
        let one = format!("/organizations/{}", text(&list[0], "uuid"));
        let user = practice.in_version(version, &user).await.fine();
        places.push((format!("list in {version}"), list[0].clone()));
        places.push((format!("read in {version}"), practice.in_version(version, &one).await.fine()));
        places.push((format!("user in {version}"), user["organizations"][0].clone()));
    }
    assert!(places.windows(2).all(|pair| pair[0].1 == pair[1].1));
    Seen { places }
}

#[tokio::test]
async fn organization_has_exactly_the_listed_fields_in_lists_reads_and_users() {
    seen().await.exactly_in("", ORGANIZATION);
}

#[tokio::test]
async fn get_organizations_returns_an_array_with_the_users_own_practice() {
    let practice = samples::practice(1).await;
    let me = practice.json("/me").await;
    let list = practice.all("/organizations").await;
    assert_eq!(list.len(), 1);
    assert_eq!(list[0]["uuid"], me["organization"]["uuid"]);
}

#[tokio::test]
async fn get_organizations_uuid_returns_the_practice_and_403_for_another() {
    let practice = samples::practice(1).await;
    let own = practice.all("/organizations").await.remove(0);
    assert_eq!(practice.json(&format!("/organizations/{}", text(&own, "uuid"))).await, own);
    let theirs = samples::read_as(&practice, samples::STRANGER, "/organizations").await;
    practice.ask("GET", &format!("/organizations/{}", text(&theirs[0], "uuid"))).await.assert_problem(403);
}

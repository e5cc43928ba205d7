//! The webhook: posts each message as one JSON object, in the form of the receiver. With a secret, it is signed
//! (Standard Webhooks, "Verifying webhook authenticity").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Method};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sha2::Sha256;
use url::Url;

use super::decide::AlertKind;
use super::message::Message;
use super::{Taken, Undelivered, client};
use crate::config::{WebhookConfig, WebhookFormat};
use crate::system::secret;

/// The prefix of a secret of Standard Webhooks.
const PREFIX: &str = "whsec_";

/// The webhook.
#[derive(Clone)]
pub struct Webhook {
    client: Client,
    config: WebhookConfig,
    /// The options that name its files.
    url_key: String,
    secret_key: String,
}

impl Webhook {
    /// `section` is the table of its options.
    pub(super) fn new(client: Client, config: WebhookConfig, section: &str) -> Self {
        let (url_key, secret_key) = (format!("{section}.webhook_url_file"), format!("{section}.webhook_secret_file"));
        Self { client, config, url_key, secret_key }
    }

    /// Posts a message.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn send(&self, message: &Message) -> Result<Taken, Undelivered> {
        let url = client::address(&self.config.url, &self.url_key)?;
        let (url, body) = request(self.config.format, url, message, &self.url_key)?;
        let body = body.to_string();
        let mut request = self.client.post(url).header(CONTENT_TYPE, "application/json");
        if let Some(key) = self.key()? {
            let timestamp = jiff::Timestamp::now().as_second();
            let signature = signature(&key, &message.id, timestamp, &body)
                .ok_or_else(|| Undelivered::certainly("the message cannot be signed"))?;
            request = request
                .header("webhook-id", &message.id)
                .header("webhook-timestamp", timestamp.to_string())
                .header("webhook-signature", format!("v1,{signature}"));
        }
        client::send(request.body(body)).await
    }

    /// Connects to the receiver without posting. Returns the host.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn check(&self) -> Result<String, Undelivered> {
        let url = client::address(&self.config.url, &self.url_key)?;
        self.key()?;
        // OPTIONS does nothing at the server (RFC 9110, section 9.3.7). Many answer that they do not know it.
        let response = client::answer(self.client.request(Method::OPTIONS, url.clone())).await?;
        let status = response.status();
        let is_unknown_method = [400, 401, 403, 405, 415, 426, 501].contains(&status.as_u16());
        if !status.is_success() && !is_unknown_method {
            return Err(client::refused(status));
        }
        // The app's page lies at the same address as the topic.
        let may_be_page = self.config.format == WebhookFormat::Ntfy || is_unknown_method;
        if !may_be_page && client::is_page(response).await {
            return Err(Undelivered::certainly("a web page answers: is the address right?"));
        }
        Ok(client::host(&url))
    }

    fn key(&self) -> Result<Option<Vec<u8>>, Undelivered> {
        let Some(file) = &self.config.secret else { return Ok(None) };
        let text = secret::read(file, &self.secret_key, "secret").map_err(Undelivered::misconfigured)?;
        let text = text.expose_secret();
        let key = STANDARD.decode(text.strip_prefix(PREFIX).unwrap_or(text)).ok().filter(|key| key.len() >= LEAST_KEY);
        key.map(Some).ok_or_else(|| {
            let key = &self.secret_key;
            let what = format!("{key} must hold whsec_ and at least {LEAST_KEY} bytes as base64: whsec_MfKQ9r8G...");
            Undelivered::misconfigured(what)
        })
    }
}

/// The shortest key; bytes. Standard Webhooks asks for 24 to 64.
const LEAST_KEY: usize = 24;

/// The signature as base64.
fn signature(key: &[u8], id: &str, timestamp: i64, body: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    Some(STANDARD.encode(mac.finalize().into_bytes()))
}

/// The address, and the JSON to post.
fn request(format: WebhookFormat, url: Url, message: &Message, url_key: &str) -> Result<(Url, Value), Undelivered> {
    // 3 is "default", 4 "high" (ntfy); Gotify has 0 to 10.
    let urgent = matches!(message.kind, AlertKind::Problem | AlertKind::Reminder);
    Ok(match format {
        WebhookFormat::Json => {
            let body =
                serde_json::to_value(message).map_err(|_| Undelivered::certainly("it cannot be written as JSON"))?;
            (url, body)
        }
        WebhookFormat::Slack => (url, json!({ "text": format!("*{}*\n{}", message.subject, message.body()) })),
        WebhookFormat::Teams => {
            let block = |text: &str| json!({ "type": "TextBlock", "text": text, "wrap": true });
            let mut blocks = vec![
                json!({ "type": "TextBlock", "text": message.subject, "weight": "Bolder", "size": "Medium", "wrap": true }),
            ];
            blocks.extend(message.paragraphs().map(block));
            let card = json!({
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard", "version": "1.4", "body": blocks,
            });
            let attachment = json!({ "contentType": "application/vnd.microsoft.card.adaptive", "content": card });
            (url, json!({ "type": "message", "attachments": [attachment] }))
        }
        WebhookFormat::Ntfy => {
            // ntfy takes JSON at the root of the server, with the topic inside ("Publish as JSON").
            let mut root = url.clone();
            let topic = url.path_segments().and_then(|parts| parts.rev().find(|part| !part.is_empty()));
            let topic = topic.ok_or_else(|| {
                Undelivered::misconfigured(format!("{url_key} names no topic: write it as in https://ntfy.sh/my-topic"))
            })?;
            if let Ok(mut parts) = root.path_segments_mut() {
                parts.pop_if_empty().pop();
            }
            let body = json!({
                "topic": topic, "title": message.subject, "message": message.body(),
                "priority": if urgent { 4 } else { 3 },
            });
            (root, body)
        }
        WebhookFormat::Gotify => {
            let priority = if urgent { 8 } else { 4 };
            (url, json!({ "title": message.subject, "message": message.body(), "priority": priority }))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PracticeConfig;
    use crate::domain::health::Cause;
    use crate::formats::language::Group;
    use crate::surfaces::alerts::message::{Content, Letterhead};

    fn message() -> Message {
        let group = Group { cause: Cause::Destination, names: vec!["pms".into()], count: 3, since: Some(0) };
        let content = Content::new(AlertKind::Problem, &group, 1_795_253_400_000);
        let practice = PracticeConfig { contact: Some("IT, 030 1234".into()), ..PracticeConfig::default() };
        Message::new("msg_1".into(), &content, &Letterhead { practice, ..Letterhead::default() })
    }

    #[test]
    fn a_signature_is_the_one_of_the_standards_own_library() {
        // The test vector of the reference libraries of Standard Webhooks.
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let found = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(found.as_deref(), Some("g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
        let theirs = standardwebhooks::Webhook::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = theirs.sign("msg_1", 1_614_265_330, b"{}").unwrap();
        assert_eq!(signed, format!("v1,{}", signature(&key, "msg_1", 1_614_265_330, "{}").unwrap()));
    }

    #[test]
    fn each_receiver_gets_the_form_that_it_understands() {
        let of = |format, url: &str| {
            request(format, url.parse().unwrap(), &message(), "alerts.webhook_url_file")
                .map(|(url, body)| (url.to_string(), body))
        };
        let text = "the destination pms cannot be reached";
        let (url, body) = of(WebhookFormat::Ntfy, "https://ntfy.test/sub/my-topic?auth=x").unwrap();
        assert_eq!(
            (url.as_str(), &body["topic"], &body["priority"]),
            ("https://ntfy.test/sub?auth=x", &json!("my-topic"), &json!(4))
        );
        assert!(body["message"].as_str().unwrap().contains(text));
        assert!(of(WebhookFormat::Ntfy, "https://ntfy.test/").is_err());
        let (url, body) = of(WebhookFormat::Gotify, "https://gotify.test/message?token=t").unwrap();
        assert_eq!((url.as_str(), &body["priority"]), ("https://gotify.test/message?token=t", &json!(8)));
        let (_, body) = of(WebhookFormat::Slack, "https://hooks.test/x").unwrap();
        assert!(body["text"].as_str().unwrap().contains(text));
        let (_, body) = of(WebhookFormat::Teams, "https://teams.test/x").unwrap();
        let card = &body["attachments"][0]["content"];
        assert_eq!((&card["type"], card["body"].as_array().unwrap().len()), (&json!("AdaptiveCard"), 6));
        let (_, body) = of(WebhookFormat::Json, "https://x.test/").unwrap();
        assert_eq!(
            (&body["id"], &body["kind"], &body["cause"]),
            (&json!("msg_1"), &json!("problem"), &json!("destination"))
        );
        assert_eq!((&body["names"], &body["documents"]), (&json!(["pms"]), &json!(3)));
        assert_eq!(body["contact"], json!("Whom to call: IT, 030 1234"));
    }
}

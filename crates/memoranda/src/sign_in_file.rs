//! The file with the issuers by which people sign in to a team server.
//!
//! ```toml
//! [[issuer]]
//! name = "Company"                                # on the button
//! kind = "openid"                                 # or "github"
//! address = "https://id.example"
//! client-id = "memoranda"
//! client-secret-file = "/run/secrets/company"
//! domains = ["example.org"]                       # people of these get an account by themselves
//! ```

use std::path::Path;

use memoranda_remote::oauth::{Issuer, IssuerKind};
use toml_edit::{DocumentMut, Item, Table};

use crate::error::{CommandError, Result};
use crate::files;

/// Reads the issuers of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Issuer>> {
    let shown = path.display();
    let bad = |reason: &str| CommandError::configuration(format!("{shown}: {reason}"));
    let text = files::read_text(path)?.ok_or_else(|| bad("there is no such file"))?;
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| bad(error.message()))?;
    if let Some((key, _)) = document.iter().find(|(key, _)| *key != "issuer") {
        return Err(bad(&format!("it has {key:?}; it can have [[issuer]] tables alone")));
    }
    let tables = document.get("issuer").and_then(Item::as_array_of_tables);
    let tables = tables.ok_or_else(|| bad("it has no [[issuer]] table"))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut issuers: Vec<Issuer> = Vec::new();
    for table in tables {
        let issuer = issuer(table, folder).map_err(|reason| bad(&reason))?;
        issuer.check().map_err(|reason| bad(&reason))?;
        if issuers.iter().any(|known| known.name == issuer.name) {
            return Err(bad(&format!("two issuers have the name {:?}", issuer.name)));
        }
        issuers.push(issuer);
    }
    Ok(issuers)
}

fn issuer(table: &Table, folder: &Path) -> Result<Issuer, String> {
    const KEYS: [&str; 6] =
        ["name", "kind", "address", "client-id", "client-secret-file", "domains"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
        return Err(format!("an issuer has {key:?}; it can have {}", KEYS.join(", ")));
    }
    let text = |key: &str| {
        let found = table.get(key).and_then(Item::as_str).filter(|text| !text.is_empty());
        found.map(str::to_owned).ok_or_else(|| format!("an issuer needs {key} as a text"))
    };
    let kind = match text("kind")?.as_str() {
        "openid" => IssuerKind::OpenId,
        "github" => IssuerKind::GitHub,
        other => return Err(format!("kind is openid or github, not {other:?}")),
    };
    let address = match (text("address"), kind) {
        (Err(_), IssuerKind::GitHub) => "https://github.com".to_owned(),
        (address, _) => address?.trim_end_matches('/').to_owned(),
    };
    let file = folder.join(text("client-secret-file")?);
    let secret = files::read_text(&file).map_err(|error| error.to_string())?;
    let secret = secret.ok_or_else(|| format!("there is no file {}", file.display()))?;
    let domains = table.get("domains").and_then(Item::as_array);
    let domains = domains.map(|domains| {
        domains.iter().filter_map(|domain| domain.as_str().map(str::to_lowercase)).collect()
    });
    Ok(Issuer {
        name: text("name")?,
        kind,
        address,
        client_id: text("client-id")?,
        client_secret: secret.trim().to_owned(),
        domains: domains.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_issuers_with_all_they_need() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sign-in.toml");
        files::create_private(&folder.path().join("secret"), b"hush\n").unwrap();
        let github = "[[issuer]]\nname = \"GitHub\"\nkind = \"github\"\nclient-id = \"x\"\n\
                      client-secret-file = \"secret\"\n";
        let openid = "[[issuer]]\nname = \"Company\"\nkind = \"openid\"\n\
                      address = \"https://id.example/\"\nclient-id = \"x\"\n\
                      client-secret-file = \"secret\"\ndomains = [\"Example.org\"]\n";
        files::create_private(&path, format!("{github}{openid}").as_bytes()).unwrap();
        let issuers = read(&path).unwrap();
        assert_eq!(issuers[0].address, "https://github.com");
        assert_eq!(issuers[1].address, "https://id.example");
        assert_eq!(issuers[1].client_secret, "hush");
        assert_eq!(issuers[1].domains, ["example.org"]);
        for (n, (text, reason)) in [
            (String::new(), "no [[issuer]]"),
            ("issuer = 1".to_owned(), "no [[issuer]]"),
            ("other = 1".to_owned(), "\"other\""),
            (format!("{github}secret = \"x\"\n"), "\"secret\""),
            (format!("{github}{github}"), "two issuers"),
            (github.replace("github", "saml"), "openid or github"),
            (github.replace("\"secret\"", "\"missing\""), "there is no file"),
            (openid.replace("https", "http"), "must begin with https"),
            ("[[issuer".to_owned(), ""),
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(format!("bad-{n}.toml"));
            files::create_private(&path, text.as_bytes()).unwrap();
            let error = read(&path).err().unwrap();
            assert!(error.message.contains(reason), "{text}: {}", error.message);
        }
    }
}

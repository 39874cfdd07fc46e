//! Targets that are plain data, and links of the caller's own.

use sparring_peer::Link;
#[cfg(feature = "containers")]
use sparring_transport::ContainerTarget;
#[cfg(unix)]
use sparring_transport::UnixTarget;
#[cfg(feature = "http")]
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, OpenError, Target};

use super::{Connect, Opened, kind};

impl<L: Link> Connect<kind::OfLink> for L {
    async fn open(self) -> Result<Opened, OpenError> {
        let target = format!("a link ({})", self.transport());
        Ok(Opened::of(self, target))
    }
}

impl Connect<kind::OfTarget> for Target {
    async fn open(self) -> Result<Opened, OpenError> {
        let target = name(&self);
        let opened = Target::open(&self).await?;
        Ok(Opened { link: opened.link, target, stderr: opened.stderr, kept: None })
    }
}

/// A target in words.
fn name(target: &Target) -> String {
    match target {
        Target::Child(child) => child.command_line(),
        #[cfg(feature = "containers")]
        Target::Container(container) => {
            format!("{} in container {}", container.command.command_line(), container.name)
        }
        #[cfg(unix)]
        Target::Unix(unix) => unix.path.display().to_string(),
        #[cfg(feature = "http")]
        Target::Http(http) => http.url.clone(),
        _ => "a target".to_owned(),
    }
}

macro_rules! targets {
    ($($(#[$gate:meta])* $target:ty => $variant:ident),* $(,)?) => {$(
        $(#[$gate])*
        impl Connect<kind::OfTarget> for $target {
            async fn open(self) -> Result<Opened, OpenError> {
                Connect::open(Target::$variant(self)).await
            }
        }
    )*};
}

targets! {
    ChildTarget => Child,
    #[cfg(feature = "containers")] ContainerTarget => Container,
    #[cfg(unix)] UnixTarget => Unix,
    #[cfg(feature = "http")] HttpTarget => Http,
}

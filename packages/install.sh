#!/bin/sh
# Installs memoranda from an archive of a release: no root, no compiler.
#
#   sh install.sh                      the archive next to this script, else the published release
#   sh install.sh --archive FILE       this archive; SHA256SUMS must lie next to it
#   sh install.sh --base-url URL       the archive and SHA256SUMS at this address
#   sh install.sh --prefix DIR         install to DIR/bin and DIR/share (default: ~/.local)
#   sh install.sh --uninstall          remove what was installed, and leave the notes
set -eu

# `cargo xtask dist` fills in the version.
version='@VERSION@'
release_url="https://github.com/memoranda/memoranda/releases/download/v$version"

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}
usage() {
  cat <<'HELP'
Usage: sh install.sh [--archive FILE | --base-url URL] [--prefix DIR]
       sh install.sh --uninstall [--prefix DIR]

  --archive FILE   install this archive; SHA256SUMS must lie next to it
  --base-url URL   download the archive and SHA256SUMS from this address
  --prefix DIR     install to DIR/bin and DIR/share (default: ~/.local)
  --uninstall      remove the program, its entries in the settings of your clients and its
                   index; your notes stay
HELP
}
has() { command -v "$1" >/dev/null 2>&1; }

archive=''
base_url=''
prefix=''
uninstall=no
while [ $# -gt 0 ]; do
  case "$1" in
    --archive | --base-url | --prefix)
      [ $# -gt 1 ] || fail "$1 needs a value" 'sh install.sh --help'
      case "$1" in
        --archive) archive="$2" ;;
        --base-url) base_url="${2%/}" ;;
        --prefix) prefix="$2" ;;
      esac
      shift 2
      ;;
    --uninstall) uninstall=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "there is no option $1" 'sh install.sh --help' ;;
  esac
done
[ -z "$archive" ] || [ -z "$base_url" ] || fail '--archive and --base-url exclude each other'
if [ -z "$prefix" ]; then
  [ -n "${HOME:-}" ] || fail 'HOME is not set' 'name a folder with --prefix DIR'
  prefix="$HOME/.local"
fi
case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
manifest="$prefix/share/memoranda/installed-files"

# Removes the listed files, then the listed folders that are empty, deepest first.
remove_listed() {
  while IFS= read -r listed; do
    [ -d "$listed" ] || rm -f "$listed"
  done <"$1"
  sort -u -r "$1" | while IFS= read -r listed; do
    [ ! -d "$listed" ] || rmdir "$listed" 2>/dev/null || :
  done
}

remove_program() {
  [ -f "$manifest" ] || fail "nothing was installed to $prefix by this script" \
    'name the folder with --prefix DIR; pip, npm and apt remove what they installed themselves'
  program="$prefix/bin/memoranda"
  if [ -x "$program" ] && [ -n "${HOME:-}" ]; then
    answer="$("$program" setup --remove --yes 2>&1)" || answer="warning: some clients still name memoranda
$answer"
    [ "$answer" = 'Nothing to do.' ] || say "$answer"
  fi
  listing="$(mktemp)"
  cp "$manifest" "$listing"
  remove_listed "$listing"
  rm -f "$listing"
  if [ -n "${HOME:-}" ]; then
    # The index, the name of this device and the token of `memoranda serve` are made again when needed.
    rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/memoranda" "${XDG_STATE_HOME:-$HOME/.local/state}/memoranda"
    for folder in "${XDG_CACHE_HOME:-$HOME/.cache}" "${XDG_STATE_HOME:-$HOME/.local/state}" \
      "$HOME/.local/share" "$HOME/.local"; do
      rmdir "$folder" 2>/dev/null || :
    done
    settings="${XDG_CONFIG_HOME:-$HOME/.config}/memoranda"
    [ ! -e "$settings" ] || say "Your settings are left: $settings"
    vault="${MEMORANDA_HOME:-$HOME/memoranda}"
    [ ! -d "$vault" ] || say "Your notes are left: $vault"
  fi
  say "Removed memoranda from $prefix"
}

# Prints the targets whose archives run on this machine, best first.
find_targets() {
  system="$(uname -s)"
  machine="$(uname -m)"
  case "$machine" in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) machine="unknown $machine" ;;
  esac
  case "$system:$machine" in
    *:unknown*) return 1 ;;
    Linux:*) say "$machine-unknown-linux-musl $machine-unknown-linux-gnu" ;;
    Darwin:*) say "$machine-apple-darwin" ;;
    *) return 1 ;;
  esac
}

sha256_of() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail 'cannot verify the archive: there is no sha256sum, shasum or openssl'
  fi
}

download() {
  say "Downloading $1"
  if has curl; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif has wget; then
    wget --quiet --output-document "$2" "$1"
  else
    fail 'cannot download: there is no curl or wget' 'download the archive and SHA256SUMS, then use --archive FILE'
  fi || fail "cannot download $1" 'download the archive and SHA256SUMS elsewhere, then use --archive FILE'
}

# Prints the archive of the first target that the list of checksums names.
choose_archive() {
  for target in $targets; do
    name="$(sed -n "s/^[0-9a-f]\{64\}  \(memoranda-[^ ]*-$target\.tar\.gz\)\$/\1/p" "$1" | head -n 1)"
    if [ -n "$name" ]; then
      say "$name"
      return 0
    fi
  done
  return 1
}

# Adds a file, and the folders that must be created for it, to the list of installed files.
list() {
  parent="$(dirname "$1")"
  while [ ! -d "$parent" ]; do
    say "$parent" >>"$work/installed"
    parent="$(dirname "$parent")"
  done
  say "$1" >>"$work/installed"
}

# Copies one file to its place. The list of installed files names it first, so that an installation
# that was interrupted can be removed.
put() {
  mode="$1" source="$2" destination="$3"
  folder="$(dirname "$destination")"
  list "$destination"
  mkdir -p "$folder" && mkdir -p "$(dirname "$manifest")" && cat "$work/before" "$work/installed" >"$manifest" ||
    fail "cannot write to $folder" 'name another folder with --prefix DIR'
  # A running program cannot be overwritten, but it can be replaced.
  cp "$source" "$destination.new" && chmod "$mode" "$destination.new" && mv -f "$destination.new" "$destination" ||
    fail "cannot write to $folder" 'name another folder with --prefix DIR'
}

install_program() {
  targets="$(find_targets)" || fail "there is no archive for $(uname -s) on $(uname -m)" \
    'on Windows use pip or npm; elsewhere build from source: cargo install --locked --path crates/memoranda'
  script_folder="$(dirname "$0")"
  if [ -z "$archive$base_url" ]; then
    if [ "$(basename "$0")" = install.sh ] && [ -f "$script_folder/SHA256SUMS" ]; then
      name="$(choose_archive "$script_folder/SHA256SUMS")" ||
        fail "SHA256SUMS in $script_folder names no archive for this machine ($targets)"
      archive="$script_folder/$name"
    else
      case "$version" in @*) fail 'this script belongs to no release' 'use --archive FILE or --base-url URL' ;; esac
      base_url="$release_url"
    fi
  fi
  if [ -n "$base_url" ]; then
    download "$base_url/SHA256SUMS" "$work/SHA256SUMS"
    name="$(choose_archive "$work/SHA256SUMS")" || fail "$base_url has no archive for this machine ($targets)"
    archive="$work/$name"
    download "$base_url/$name" "$archive"
  fi
  [ -f "$archive" ] || fail "there is no file $archive"
  name="$(basename "$archive")"
  sums="$(dirname "$archive")/SHA256SUMS"
  [ -f "$sums" ] || fail "cannot verify $name: there is no $sums"
  expected="$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$sums" | head -n 1)"
  [ -n "$expected" ] || fail "cannot verify $name: $sums does not name it"
  actual="$(sha256_of "$archive")"
  [ "$actual" = "$expected" ] ||
    fail "$name is damaged or was changed: its SHA-256 is $actual, not $expected" 'download it again'

  mkdir "$work/unpacked"
  tar -xzf "$archive" -C "$work/unpacked"
  from="$work/unpacked/${name%.tar.gz}"
  installed="$("$from/memoranda" --version 2>"$work/complaint")" ||
    fail "the program does not run on this machine: $(head -n 1 "$work/complaint")" \
      'the archive may be for another libc; try one whose name ends in linux-musl, or build from source'

  : >"$work/before"
  [ ! -f "$manifest" ] || cp "$manifest" "$work/before"
  list "$manifest"
  put 755 "$from/memoranda" "$prefix/bin/memoranda"
  for page in "$from"/man/man1/*.1; do
    put 644 "$page" "$prefix/share/man/man1/$(basename "$page")"
  done
  put 644 "$from/completions/memoranda.bash" "$prefix/share/bash-completion/completions/memoranda"
  put 644 "$from/completions/_memoranda" "$prefix/share/zsh/site-functions/_memoranda"
  put 644 "$from/completions/memoranda.fish" "$prefix/share/fish/vendor_completions.d/memoranda.fish"
  put 644 "$from/completions/memoranda.nu" "$prefix/share/nushell/vendor/autoload/memoranda.nu"
  for file in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES.txt; do
    put 644 "$from/$file" "$prefix/share/doc/memoranda/$file"
  done
  # An update may leave out files of the version before. Folders that it created stay listed.
  while IFS= read -r old; do
    if [ -d "$old" ]; then
      say "$old" >>"$work/installed"
    elif ! grep -qxF -- "$old" "$work/installed"; then
      rm -f "$old"
    fi
  done <"$work/before"
  sort -u "$work/installed" >"$manifest"

  say "Installed $installed to $prefix/bin/memoranda"
  case ":$PATH:" in
    *":$prefix/bin:"*)
      first="$(command -v memoranda || :)"
      [ "$first" = "$prefix/bin/memoranda" ] || say "warning: your shell starts another memoranda: $first"
      ;;
    *) say "hint: $prefix/bin is not on your PATH; add to your shell's profile: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

if [ "$uninstall" = yes ]; then
  remove_program
else
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  install_program
fi

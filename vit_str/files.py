"""Files and folders: atomic writes, names, finding files, locks, the cache folder.

Every command begins here too: `shutil` and `tempfile`, which most runs never need, are imported
where they are used.
"""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

_LONGEST_NAME = 255  # bytes, of nearly all file systems
_KNOWN_FOLDERS = 4096
_MOST_TEXT = 64 << 20  # bytes, of a text file that is read whole
_UNFINISHED = ".unfinished"  # in a folder that is being filled
_NOTE = b"vit-str makes this folder\n"  # in that file
# Errors that do not name the file that cannot be written.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def temporary_file(content: bytes, suffix: str) -> Iterator[str]:
    """The path of a file with some content, for as long as the block runs.

    It is not open meanwhile, so that Windows lets others open it.

    Raises:
        OSError: there is no room for it.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="vit-str-") as folder:
        path = Path(folder, f"file{suffix}")
        path.write_bytes(content)
        yield str(path)


@contextmanager
def write_atomically(path: str | Path) -> Iterator[Path]:
    """A temporary file that replaces ``path`` when the block ends without an error.

    The temporary file is hidden, in the same folder and with the same suffix, so that writers
    that go by the suffix know the format. Where its name would be too long, that of ``path`` is
    shortened in it. Missing folders are created. After an error ``path`` is as it was before; what
    a killed process left is written over. A link stays, and what it leads to is replaced; into a
    pipe or a device, such as ``/dev/stdout``, the content goes when all is written.

    >>> with write_atomically(path) as temporary:  # doctest: +SKIP
    ...     temporary.write_text("content")

    Raises:
        OSError: it cannot be written; names ``path``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file() and not path.is_dir():
        with _copied_at_end(path) as temporary:
            yield temporary
        return
    target = Path(os.path.realpath(path))
    with _partial_file(target) as temporary:
        is_ours = True
        try:
            yield temporary
            # On the disk, not only in the memory of the system
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(target)
            is_ours = False  # another process may have made one of this name by now
        except OSError as error:
            # The temporary file is nobody's business; a full disk names none, or what is read.
            if error.errno in _FULL or error.filename == str(temporary):
                raise OSError(error.errno, error.strerror, str(path)) from error
            raise
        finally:
            if is_ours:
                with suppress(OSError):  # of a disk that is read-only: there is none
                    temporary.unlink(missing_ok=True)


@contextmanager
def _partial_file(target: Path) -> Iterator[Path]:
    """The temporary file of a target, held while the block runs.

    It always has the same name, so that the next run writes over what a killed one left; another
    name while another process holds it, and where files cannot be held.
    """
    temporary = _partial_name(target, ".partial")
    file = _open_held(temporary)
    try:
        own = f".{os.getpid()}.partial"
        yield _partial_name(target, own) if file is None else temporary
    finally:
        if file is not None:
            os.close(file)


def _partial_name(target: Path, mark: str) -> Path:
    """A hidden file beside a target, with a mark before its suffix."""
    ending = f"{mark}{target.suffix}"
    begin = shortened(target.stem, _LONGEST_NAME - 1 - len(os.fsencode(ending)))
    return target.with_name(f".{begin}{ending}")


def _open_held(path: Path) -> int | None:
    """A file, made if there is none, that others do not hold until it is closed; None if they do.

    None too if it cannot be made or held.
    """
    no_link = getattr(os, "O_NOFOLLOW", 0)  # others may have put one there
    try:
        import fcntl  # noqa: F401 - before the file is made

        file = os.open(path, os.O_RDWR | os.O_CREAT | no_link, 0o666)
    except (ImportError, OSError):
        return None
    is_held = _is_held(file, path)
    if is_held:
        return file
    os.close(file)
    if is_held is None:
        path.unlink(missing_ok=True)
    return None


def _is_held(file: int, path: Path, wait: bool = False) -> bool | None:
    """Lock an open file, if no other process holds it; None where there are no locks.

    What another process has replaced or removed since it was opened is not held either.
    """
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


@contextmanager
def _copied_at_end(path: Path) -> Iterator[Path]:
    """A temporary file elsewhere, for what must not be replaced: a pipe or a device."""
    import shutil
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        temporary = Path(folder, path.name)
        yield temporary
        try:
            with temporary.open("rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def folder_to_fill(path: Path, option: str) -> Iterator[None]:
    """A new or empty folder; after an error, or Ctrl-C, it is as it was, and can be filled again.

    It is made, and holds a hidden note while the block runs, by which the next run knows, and
    removes, what a killed one left.

    Args:
        path: of the folder.
        option: that named it, for the message.

    Raises:
        ValueError: there is something, or another process fills it.
    """
    was_there = path.exists()
    note = path / _UNFINISHED
    if was_there and (not path.is_dir() or (any(path.iterdir()) and not note.exists())):
        raise ValueError(_filled(path, option))
    is_ours = False
    try:
        path.mkdir(parents=True, exist_ok=True)
        with exclusive(note):
            _begin(note, option)
            is_ours = True
            try:
                yield
            except BaseException:
                _empty(path, note)
                raise
            finally:
                note.write_bytes(b"")  # for who opened it before it is removed
    except OSError as error:
        if error.errno in _FULL or error.filename == str(note):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if is_ours:
            note.unlink(missing_ok=True)
        if not was_there:
            with suppress(OSError):  # it is not empty
                path.rmdir()


def _begin(note: Path, option: str) -> None:
    """Note that a folder is being filled, and remove what a killed process left in it.

    Raises:
        ValueError: it holds what no such process left.
    """
    if note.read_bytes() == _NOTE:
        _empty(note.parent, note)
    elif len(list(note.parent.iterdir())) > 1:
        raise ValueError(_filled(note.parent, option))
    note.write_bytes(_NOTE)


def _filled(path: Path, option: str) -> str:
    return f"{option} {path}: there already, and not empty; give a new folder"


def _empty(folder: Path, note: Path) -> None:
    """Remove all that is in a folder but the note."""
    import shutil

    for entry in set(folder.iterdir()) - {note}:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def default_cache() -> Path:
    """Folder for what can be built again: ``VIT_STR_CACHE`` or the user's cache folder.

    Raises:
        ValueError: there is no home folder, and no variable names another; or others can put files
            there, which would be read.
    """
    own = os.environ.get("VIT_STR_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME")
    if own:
        cache = Path(own)
    elif shared:
        cache = Path(shared) / "vit-str"
    else:
        cache = _home_cache()
    _check_own(cache)
    return cache


def _home_cache() -> Path:
    try:
        return Path.home() / ".cache" / "vit-str"
    except RuntimeError:
        message = (
            "no home folder to keep drawn fonts and word lists in: set VIT_STR_CACHE"
        )
        raise ValueError(message) from None


def _check_own(cache: Path) -> None:
    """Refuse a folder that is of another user, or a link that is, or that all may write to."""
    if not hasattr(os, "geteuid"):
        return
    trusted = {os.geteuid(), 0}
    advice = "set VIT_STR_CACHE to a folder of your own"
    try:
        entry, folder = cache.lstat(), cache.stat()
    except OSError:  # not there yet, or not to be used
        return
    if not {entry.st_uid, folder.st_uid} <= trusted:
        raise ValueError(f"the cache folder {cache} is of another user; {advice}")
    if folder.st_mode & stat.S_IWOTH:
        raise ValueError(f"all users may write to the cache folder {cache}; {advice}")


def remove_links(*paths: Path) -> None:
    """Remove what is a link: to write there would change the file that it leads to."""
    for path in paths:
        if path.is_symlink():
            path.unlink()


def shortened(name: str, most: int) -> str:
    """A file name of at most ``most`` bytes: a longer one ends in a hash of the whole instead."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    begin = encoded[: max(0, most - len(digest) - 1)].decode("utf-8", "ignore")
    return f"{begin}-{digest}"


def escaped_name(name: str) -> str:
    r"""A file name without line breaks, control characters and bytes that are not UTF-8 (PEP 383).

    Each of their bytes is ``\xff`` in hexadecimal, and a backslash that is no separator ``\\``, so
    that nothing is lost: ``escaped.encode().decode("unicode_escape").encode("latin-1")`` are the
    bytes of the name on systems other than Windows.
    """
    if os.sep == "/":
        name = name.replace("\\", "\\\\")
    return "".join(map(_escaped, name))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8, with or without a byte order mark, or of a pipe.

    It may be one that a user has named by mistake: a device without an end is read no further than
    to 64 MB, and nobody waits for a pipe that nothing writes to.

    Raises:
        OSError: it cannot be read, or holds more.
        UnicodeDecodeError: it is not UTF-8.
    """
    with open(path, "rb", opener=open_at_once) as file:
        content = file.read(_MOST_TEXT + 1)
    if len(content) > _MOST_TEXT:
        reason = f"more than {_MOST_TEXT >> 20} MB, no text file of this kind"
        raise OSError(errno.EINVAL, reason, str(path))
    return content.decode("utf-8-sig")


def open_at_once(path: str, flags: int) -> int:
    """Opens a file as usual, but a pipe that nobody writes to as an empty one.

    See ``opener`` of ``open``.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, True)
    return descriptor


def check_writable(path: Path) -> None:
    """Make the folder of a file that is to be written; an OSError if it cannot be written there.

    For what takes long, so that it is known before.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    _check_new_files(path.parent, path)


def check_folder(path: Path) -> None:
    """Raise an OSError if nothing can be written to a folder; one that is missing is not made."""
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    _check_new_files(nearest, path)


def _check_new_files(folder: Path, path: Path) -> None:
    """Raise an OSError that names a path if no file can be made in a folder."""
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def remove_partial(folder: Path, least_age: float = 0.0) -> None:
    """Remove what `write_atomically` left in killed processes: files of ``least_age`` seconds."""
    for partial in folder.rglob(".*.partial*"):
        with suppress(OSError):
            if time.time() - partial.stat().st_mtime >= least_age:
                partial.unlink()


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a file is outside of a folder, by its name or through links."""
    root = os.path.join(_real_folder(os.path.abspath(folder)), "")
    parent, name = os.path.split(os.path.abspath(path))
    real = os.path.join(_real_folder(parent), name)
    if os.path.islink(real):
        real = os.path.realpath(real)
    return not real.startswith(root)


@lru_cache(_KNOWN_FOLDERS)
def _real_folder(folder: str) -> str:
    """A folder without links; sets of data have far fewer of them than files."""
    return os.path.realpath(folder)


def find_files(
    folder: str | Path,
    suffixes: tuple[str, ...],
    on_error: Callable[[OSError], object] | None = None,
) -> list[Path]:
    """Files in a folder and in those below it, by name: those of a folder before its folders.

    Hidden files, such as the ``._`` files of macOS, and what is no regular file are left out. Links
    to folders are not followed, so that circles end.

    Args:
        folder: where to look.
        suffixes: such as ``(".png", ".jpg")``, in lower case; the case of names does not matter.
        on_error: called with the error of every folder that cannot be searched.
    """
    found = []
    for parent, folders, files in os.walk(folder, onerror=on_error):
        folders.sort()
        for name in sorted(files):
            path = Path(parent, name)
            is_wanted = name.lower().endswith(suffixes) and not name.startswith(".")
            if is_wanted and path.is_file():
                found.append(path)
    return found


@contextmanager
def exclusive(path: str | Path, wait: bool = False) -> Iterator[None]:
    """Hold a lock file while the block runs; the system releases it however the process ends.

    Where locks do not exist, on Windows and some network file systems, nothing is locked.

    Raises:
        ValueError: another process holds it.
    """
    path = Path(path)
    with path.open("ab") as file:
        if _is_held(file.fileno(), path, wait) is False:
            raise ValueError(
                f"another process writes there and holds {path}; wait for it or stop it"
            )
        yield

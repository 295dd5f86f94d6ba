"""Transparency logs a second time. Written from the C2SP texts and RFC 6962 alone; needs Python 3.9 and `cryptography`.

Each part names the text that it follows: signed-note, RFC 6962 section 2.1, tlog-checkpoint, tlog-cosignature,
tlog-witness, tlog-proof and tlog-policy. Trees are folded by the definitions, from the top, and not by the loops
over bits that are quicker: it is there to be read, not to be fast.
ML-DSA-44 works where the installed `cryptography` has it (`HAS_ML_DSA`).
"""
import base64
import hashlib
import re
import threading
from collections import namedtuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

try:
    from cryptography.hazmat.primitives.asymmetric import mldsa

    mldsa.MLDSA44PrivateKey.from_seed_bytes(bytes(32))
    HAS_ML_DSA = True
except (ImportError, UnsupportedAlgorithm):
    HAS_ML_DSA = False

NOTE_ED25519, COSIGNATURE_ED25519, COSIGNATURE_ML_DSA = 0x01, 0x04, 0x06
PUBLIC_BYTES = {NOTE_ED25519: 32, COSIGNATURE_ED25519: 32, COSIGNATURE_ML_DSA: 1312}
SIGNATURE_BYTES = {NOTE_ED25519: 64, COSIGNATURE_ED25519: 72, COSIGNATURE_ML_DSA: 2428}
MAX_PROOF_LINES, MAX_SIGNATURES, MAX_TIMESTAMP = 63, 100, 2**63 - 1


class Refused(Exception):
    """What was given does not hold; the message says why."""


def demand(holds, why):
    if not holds:
        raise Refused(why)


# --- encodings -------------------------------------------------------------------------------------------------------


def to_base64(data):
    return base64.b64encode(data).decode("ascii")


def from_base64(text):
    """RFC 4648 section 4, in its one spelling."""
    demand(re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", text), "no base64")
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused("no base64") from None
    demand(to_base64(data) == text, "base64 in another spelling")
    return data


def hash_of(text):
    data = from_base64(text)
    demand(len(data) == 32, "no hash of 32 bytes")
    return data


def decimal(text):
    """An ASCII decimal with no leading zeroes."""
    demand(re.fullmatch(r"0|[1-9][0-9]*", text), "no decimal")
    demand(len(text) <= 19 and int(text) < 2**63, "a number beyond every tree")
    return int(text)


def utf8(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("no UTF-8") from None


# --- keys (signed-note: verifier keys; tlog-cosignature: format) -------------------------------------------------------

Key = namedtuple("Key", "name id type public")


def is_key_name(name):
    return name != "" and "+" not in name and not any(sign.isspace() for sign in name)


def key_of(name, kind, public):
    demand(is_key_name(name), "no key name")
    demand(len(public) == PUBLIC_BYTES.get(kind), "no key of a known type")
    return Key(name, hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4], kind, public)


def vkey_of(key):
    return f"{key.name}+{key.id.hex()}+{to_base64(bytes([key.type]) + key.public)}"


def key_from_vkey(text):
    parts = text.split("+", 2)
    demand(len(parts) == 3, "a vkey has three parts")
    material = from_base64(parts[2])
    demand(material != b"", "a vkey without a key")
    key = key_of(parts[0], material[0], material[1:])
    demand(key.id.hex() == parts[1], "the key id is of another key")
    return key


Signer = namedtuple("Signer", "key private")


def signer_from_seed(name, kind, seed):
    """The private key that RFC 8032 and FIPS 204 make of a seed of 32 bytes."""
    if kind == COSIGNATURE_ML_DSA:
        private = mldsa.MLDSA44PrivateKey.from_seed_bytes(seed)
        public = private.public_key().public_bytes_raw()
    else:
        private = Ed25519PrivateKey.from_private_bytes(seed)
        public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return Signer(key_of(name, kind, public), private)


# --- notes (signed-note: format, signatures) ---------------------------------------------------------------------------

Note = namedtuple("Note", "text lines")
Line = namedtuple("Line", "name id signature")


def parse_line(line):
    """One signature line, without its newline."""
    demand(line.startswith("\u2014 "), "a signature line begins with an em dash")
    parts = line[2:].split(" ")
    demand(len(parts) == 2 and is_key_name(parts[0]), "a signature line is a name and a signature")
    data = from_base64(parts[1])
    demand(len(data) > 4, "a signature line without a signature")
    return Line(parts[0], data[:4], data[4:])


def parse_note(data):
    whole = utf8(data)
    demand(not any(sign < " " and sign != "\n" for sign in whole), "a control character")
    cut = whole.rfind("\n\n")
    demand(cut >= 0, "no empty line before the signatures")
    text, signatures = whole[: cut + 1], whole[cut + 2 :]
    demand(signatures.endswith("\n"), "no signature line that ends")
    lines = signatures[:-1].split("\n")
    demand(len(lines) <= MAX_SIGNATURES, "too many signatures")
    return Note(text, [parse_line(line) for line in lines])


def open_note(data, keys):
    """The note, and (key, timestamp) of each line of a known key; every one of these verifies."""
    note = parse_note(data)
    known = {(key.name, key.id): key for key in keys}
    verified = []
    for line in note.lines:
        key = known.get((line.name, line.id))
        if key is not None:
            verified.append((key, verify_line(key, note.text, line.signature)))
    demand(verified, "no signature of a known key")
    return note, verified


def line_text(key, signature):
    return f"\u2014 {key.name} {to_base64(key.id + signature)}\n"


def sign_note(text, *lines):
    return (text + "\n" + "".join(lines)).encode("utf-8")


def signature_line(signer, text, timestamp=0):
    """A whole line. The timestamp is of cosignatures alone."""
    kind = signer.key.type
    if kind == NOTE_ED25519:
        return line_text(signer.key, signer.private.sign(text.encode("utf-8")))
    signature = signer.private.sign(cosigned_message(signer.key, text, timestamp))
    return line_text(signer.key, timestamp.to_bytes(8, "big") + signature)


def verify_line(key, text, signature):
    """The timestamp of a cosignature, 0 of another signature; refused if it is not of this key over this text."""
    demand(len(signature) == SIGNATURE_BYTES[key.type], "a signature of another length")
    timestamp, message = 0, text.encode("utf-8")
    if key.type != NOTE_ED25519:
        timestamp, signature = int.from_bytes(signature[:8], "big"), signature[8:]
        demand(timestamp <= MAX_TIMESTAMP, "a timestamp beyond its bound")
        message = cosigned_message(key, text, timestamp)
    try:
        if key.type == COSIGNATURE_ML_DSA:
            demand(HAS_ML_DSA, "ML-DSA-44 is not installed")
            mldsa.MLDSA44PublicKey.from_public_bytes(key.public).verify(signature, message)
        else:
            Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
    except InvalidSignature:
        raise Refused("a signature of a known key fails") from None
    return timestamp


def cosigned_message(key, text, timestamp):
    """tlog-cosignature: the bytes that a cosigner signs."""
    checkpoint = parse_checkpoint_text(text)
    if key.type == COSIGNATURE_ED25519:
        return f"cosignature/v1\ntime {timestamp}\n{text}".encode("utf-8")
    name, origin = key.name.encode("utf-8"), checkpoint.origin.encode("utf-8")
    demand(len(name) <= 255 and len(origin) <= 255, "a name beyond 255 bytes")
    numbers = [number.to_bytes(8, "big") for number in (timestamp, 0, checkpoint.size)]
    opaque = [bytes([len(data)]) + data for data in (name, origin)]
    return b"subtree/v1\n\0" + opaque[0] + numbers[0] + opaque[1] + numbers[1] + numbers[2] + checkpoint.root


# --- trees (RFC 6962 section 2.1) --------------------------------------------------------------------------------------


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


EMPTY_ROOT = hashlib.sha256(b"").digest()


def split(size):
    """The largest power of two smaller than the size."""
    return 1 << ((size - 1).bit_length() - 1)


def tree_root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else EMPTY_ROOT
    at = split(len(leaves))
    return node_hash(tree_root(leaves[:at]), tree_root(leaves[at:]))


def inclusion_proof(index, leaves):
    """PATH(m, D[n])"""
    if len(leaves) == 1:
        return []
    at = split(len(leaves))
    if index < at:
        return inclusion_proof(index, leaves[:at]) + [tree_root(leaves[at:])]
    return inclusion_proof(index - at, leaves[at:]) + [tree_root(leaves[:at])]


def consistency_proof(old, leaves, from_start=True):
    """SUBPROOF(m, D[n], b)"""
    if old == len(leaves):
        return [] if from_start else [tree_root(leaves)]
    at = split(len(leaves))
    if old <= at:
        return consistency_proof(old, leaves[:at], from_start) + [tree_root(leaves[at:])]
    return consistency_proof(old - at, leaves[at:], False) + [tree_root(leaves[:at])]


def root_by_path(index, size, leaf, path):
    """The root that PATH leads to: its last hash is the child of the root."""
    if size == 1:
        demand(path == [], "an inclusion proof that is too long")
        return leaf
    demand(path, "an inclusion proof that is too short")
    at = split(size)
    if index < at:
        return node_hash(root_by_path(index, at, leaf, path[:-1]), path[-1])
    return node_hash(path[-1], root_by_path(index - at, size - at, leaf, path[:-1]))


def check_inclusion(index, size, leaf, root, path):
    demand(0 <= index < size, "an index outside the tree")
    demand(root_by_path(index, size, leaf, path) == root, "the inclusion proof leads to another root")


def roots_by_subproof(old, new, old_root, proof, from_start):
    """Both roots that SUBPROOF leads to. Where the old tree is a whole subtree from the start, its root is known."""
    if old == new:
        if from_start:
            demand(proof == [], "a consistency proof that is too long")
            return old_root, old_root
        demand(len(proof) == 1, "a consistency proof of another length")
        return proof[0], proof[0]
    demand(proof, "a consistency proof that is too short")
    at, last = split(new), proof[-1]
    if old <= at:
        before, after = roots_by_subproof(old, at, old_root, proof[:-1], from_start)
        return before, node_hash(after, last)
    before, after = roots_by_subproof(old - at, new - at, old_root, proof[:-1], False)
    return node_hash(last, before), node_hash(last, after)


def check_consistency(old, new, old_root, new_root, proof):
    demand(old <= new, "the old tree is larger")
    if old == 0:
        demand(proof == [], "a proof from the empty tree has no hashes")
        demand(old_root == EMPTY_ROOT, "the empty tree has one root")
        demand(new > 0 or new_root == EMPTY_ROOT, "the empty tree has one root")
        return
    demand(roots_by_subproof(old, new, old_root, proof, True) == (old_root, new_root), "the trees are not consistent")


# --- a range of leaves with what stands beside it (range.json) ---------------------------------------------------------


def range_root(ledger_range, leaves):
    """The root of {first, last, size, left, right} and the leaf hashes of first to last; `first` counts from 1.

    `left` and `right` are the roots of the maximal complete subtrees of [0, first - 1) and [last, size).
    """
    begin, end, size = ledger_range["first"] - 1, ledger_range["last"], ledger_range["size"]
    demand(0 <= begin < end <= size and len(leaves) == end - begin, "no range of these leaves")
    left, right = ([hash_of(text) for text in ledger_range[side]] for side in ("left", "right"))

    def fold(low, high):
        complete = high - low == 1 << (high - low).bit_length() - 1
        for outside, hashes in ((high <= begin, left), (low >= end, right)):
            if outside and complete:
                demand(hashes, "a hash is missing")
                return hashes.pop(0)
        if high - low == 1:
            return leaves[low - begin]
        at = low + split(high - low)
        return node_hash(fold(low, at), fold(at, high))

    root = fold(0, size)
    demand(left == [] and right == [], "a hash too many")
    return root


# --- checkpoints (tlog-checkpoint: note text) --------------------------------------------------------------------------

Checkpoint = namedtuple("Checkpoint", "origin size root extensions")


def checkpoint_text(origin, size, root):
    return f"{origin}\n{size}\n{to_base64(root)}\n"


def parse_checkpoint_text(text):
    demand(text.endswith("\n"), "a text that does not end")
    lines = text[:-1].split("\n")
    demand(len(lines) >= 3 and "" not in lines, "a checkpoint has three lines, none of them empty")
    return Checkpoint(lines[0], decimal(lines[1]), hash_of(lines[2]), lines[3:])


# --- the witness (tlog-witness: add-checkpoint) ------------------------------------------------------------------------

Answer = namedtuple("Answer", "status body type", defaults=("", "text/plain; charset=utf-8"))


def parse_add_checkpoint(data):
    """Old size, proof, and the bytes of the checkpoint."""
    head, found, note = data.partition(b"\n\n")
    demand(found, "no empty line before the checkpoint")
    lines = utf8(head).split("\n")
    demand(lines[0].startswith("old "), "no old size line")
    demand(len(lines) <= 1 + MAX_PROOF_LINES, "too many proof lines")
    return decimal(lines[0][4:]), [hash_of(line) for line in lines[1:]], note


class Witness:
    """Cosigns what extends what it cosigned last. `logs` are the keys that it trusts, by origin."""

    def __init__(self, signers, logs, clock):
        self.signers, self.logs, self.clock = signers, logs, clock
        self.latest, self.lock = {}, threading.Lock()

    def add_checkpoint(self, request):
        try:
            old, proof, note_bytes = parse_add_checkpoint(request)
            note = parse_note(note_bytes)
            checkpoint = parse_checkpoint_text(note.text)
        except Refused as refused:
            return Answer(400, f"{refused}\n")
        if checkpoint.origin not in self.logs:
            return Answer(404, "unknown origin\n")
        try:
            open_note(note_bytes, self.logs[checkpoint.origin])
        except Refused as refused:
            return Answer(403, f"{refused}\n")
        if old > checkpoint.size:
            return Answer(400, "the old size is beyond the checkpoint\n")
        # Compare and store are one step: else a slower request rolls the witness back.
        with self.lock:
            return self.advance(old, proof, note.text, checkpoint)

    def advance(self, old, proof, text, checkpoint):
        size, root = self.latest.get(checkpoint.origin, (0, EMPTY_ROOT))
        if old != size:
            return Answer(409, f"{size}\n", "text/x.tlog.size")
        try:
            check_consistency(old, checkpoint.size, root, checkpoint.root, proof)
        except Refused as refused:
            return Answer(422, f"{refused}\n")
        self.latest[checkpoint.origin] = (checkpoint.size, checkpoint.root)
        return Answer(200, "".join(signature_line(signer, text, self.clock()) for signer in self.signers))


# --- policies (tlog-policy) --------------------------------------------------------------------------------------------

Policy = namedtuple("Policy", "logs witnesses groups quorum")
Group = namedtuple("Group", "threshold members")
WITNESS_TYPES = (COSIGNATURE_ED25519, COSIGNATURE_ML_DSA)


class PolicyFile:
    """A policy in the making: a line can only name what stands above it."""

    def __init__(self):
        self.logs, self.witnesses, self.groups, self.members, self.quorums = [], {}, {}, set(), []

    def define(self, name):
        demand(name != b"none", "the name none is taken")
        demand(name not in self.witnesses and name not in self.groups, "a name is defined twice")

    def add_log(self, vkey, url=None):
        key = key_from_vkey(utf8(vkey))
        demand(all(key.public != other.public for other in self.logs), "a log key is there twice")
        self.logs.append(key)

    def add_witness(self, name, vkey, url=None):
        self.define(name)
        key = key_from_vkey(utf8(vkey))
        demand(key.type in WITNESS_TYPES, "a witness key of a type that does not cosign")
        demand(all(key.public != other.public for other in self.witnesses.values()), "a witness key is there twice")
        self.witnesses[name] = key

    def add_group(self, name, threshold, *members):
        self.define(name)
        for member in members:
            demand(member in self.witnesses or member in self.groups, "a member is not defined above")
            demand(member not in self.members, "a member is there twice")
            self.members.add(member)
        count = {b"any": 1, b"all": len(members)}.get(threshold)
        count = decimal(threshold.decode("latin-1")) if count is None else count
        demand(1 <= count <= len(members), "a threshold that no members meet")
        self.groups[name] = Group(count, members)

    def add_quorum(self, name):
        demand(name == b"none" or name in self.witnesses or name in self.groups, "the quorum is not defined above")
        self.quorums.append(name)


def parse_policy(data):
    demand(data == b"" or data.endswith(b"\n"), "a line that does not end")
    demand(not any(octet == 0x7F or (octet < 0x20 and octet not in b"\t\n") for octet in data), "a control character")
    made = PolicyFile()
    kinds = {
        b"log": (made.add_log, 1, 2),
        b"witness": (made.add_witness, 2, 3),
        b"group": (made.add_group, 3, len(data)),
        b"quorum": (made.add_quorum, 1, 1),
    }
    for line in data.split(b"\n"):
        items = [item for item in re.split(rb"[ \t]+", line) if item != b""]
        if items == [] or items[0].startswith(b"#"):
            continue
        demand(items[0] in kinds, "a line of an unknown kind")
        add, fewest, most = kinds[items[0]]
        demand(fewest <= len(items) - 1 <= most, "a line with too few or too many items")
        add(*items[1:])
    demand(len(made.quorums) == 1, "a policy has one quorum line")
    return Policy(made.logs, made.witnesses, made.groups, made.quorums[0])


def is_met(policy, name, cosigned):
    """Whether the witness or the group of this name has witnessed, by the names of those that cosigned."""
    if name == b"none":
        return True
    if name in policy.witnesses:
        return name in cosigned
    group = policy.groups[name]
    return sum(is_met(policy, member, cosigned) for member in group.members) >= group.threshold


def check_checkpoint(data, policy):
    """The checkpoint of a note that one of the policy's logs signed, and the names of the witnesses that cosigned."""
    # The keys of other logs are known, too: a line of one that fails makes the note malformed.
    note, verified = open_note(data, policy.logs + list(policy.witnesses.values()))
    checkpoint = parse_checkpoint_text(note.text)
    keys = {key for key, _ in verified}
    demand(any(key in keys and key.name == checkpoint.origin for key in policy.logs), "no log of this origin has signed")
    return checkpoint, {name for name, key in policy.witnesses.items() if key in keys}


# --- proofs (tlog-proof) -----------------------------------------------------------------------------------------------

PROOF_HEADER = "c2sp.org/tlog-proof@v1"
Proof = namedtuple("Proof", "extra index path checkpoint")


def proof_bytes(index, path, checkpoint, extra=None):
    lines = [PROOF_HEADER] + ([] if extra is None else [f"extra {to_base64(extra)}"]) + [f"index {index}"]
    return "\n".join(lines + [to_base64(item) for item in path] + ["", ""]).encode("utf-8") + checkpoint


def parse_proof(data):
    head, found, checkpoint = data.partition(b"\n\n")
    demand(found, "no empty line before the checkpoint")
    lines = utf8(head).split("\n")
    demand(lines.pop(0) == PROOF_HEADER, "another format")
    extra = from_base64(lines.pop(0)[6:]) if lines and lines[0].startswith("extra ") else None
    demand(extra != b"", "an extra line without extra data")
    demand(lines and lines[0].startswith("index "), "no index line")
    index = decimal(lines.pop(0)[6:])
    demand(len(lines) <= MAX_PROOF_LINES, "too many proof lines")
    return Proof(extra, index, [hash_of(line) for line in lines], checkpoint)


def check_proof(data, leaf, policy):
    """What a proof shows under a policy: the four steps of tlog-proof, the leaf hash being given."""
    proof = parse_proof(data)
    checkpoint, cosigned = check_checkpoint(proof.checkpoint, policy)
    demand(is_met(policy, policy.quorum, cosigned), "the quorum is not met")
    check_inclusion(proof.index, checkpoint.size, leaf, checkpoint.root, proof.path)
    return proof, checkpoint, cosigned

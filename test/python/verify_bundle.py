#!/usr/bin/env python3
"""Judges an export bundle offline. Written from docs/deed-format.md alone; needs Python 3.9 and `cryptography`.

    verify_bundle.py BUNDLE --org ORG --pin FINGERPRINT [--pin ...] [--head SEQ:DIGEST ...] [--keys FILE]
                     [--checkpoint-key VKEY ...] [--witnesses FILE]

`--keys` takes the answer of GET /.well-known/service/keys.json, `--witnesses` a tlog-policy; checkpoints are judged by tlog.py,
assertions of passkeys by passkeys.py, signed intents by intents.py.
Prints the verdict as one JSON object. Exit 0: intact. 1: not. 2: wrong usage or our own fault.
It reads the whole file into memory: it is there to be read, not to be fast.
"""
import argparse
import base64
import hashlib
import json
import re
import sys
import zlib
from datetime import datetime, timezone
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import intents
import passkeys
import tlog

MAX_SAFE = 2**53 - 1
MAX_BODY, MAX_LINE, MAX_KEYS = 262_144, 349_789, 4_194_304
MAX_NOTE, MAX_RANGE, MAX_PAYLOAD_LINE = 262_144, 16_384, 8_388_608


class Refused(Exception):
    """The bundle is at fault: a reason of the format page."""

    def __init__(self, reason, seq=None):
        super().__init__(reason)
        self.reason, self.seq = reason, seq


# --- encodings -------------------------------------------------------------------------------------------------------


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def base64url(text):
    """The bytes of the one spelling, or None."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text else None


def unique(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name twice")
    return dict(sorted(pairs, key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass")))


def integer(text):
    value = int(text)
    if abs(value) > MAX_SAFE:
        raise ValueError("beyond 2^53-1")
    return value


def no_float(text):
    raise ValueError("no integer in its one spelling")


def canonical(data, max_depth):
    """The value of canonical bytes, or None."""
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=unique, parse_int=integer, parse_float=no_float, parse_constant=no_float
        )
        again = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return value if again == data and depth(value) <= max_depth else None


def depth(value):
    if isinstance(value, dict):
        return 1 + max((depth(item) for item in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(item) for item in value), default=0)
    return 0


ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def encode_id(prefix, data):
    number = int.from_bytes(data, "big")
    return prefix + "_" + "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


# --- shapes ----------------------------------------------------------------------------------------------------------


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def text(max_bytes):
    return lambda value: isinstance(value, str) and len(value.encode("utf-8")) <= max_bytes


def one_of(*words):
    return lambda value: isinstance(value, str) and value in words


def at_least(minimum):
    return lambda value: type(value) is int and value >= minimum


def or_null(check):
    return lambda value: value is None or check(value)


def many(check, most):
    return lambda value: isinstance(value, list) and len(value) <= most and all(check(item) for item in value)


def closed(**members):
    return lambda value: isinstance(value, dict) and set(value) == set(members) and all(
        check(value[name]) for name, check in members.items()
    )


def an_id(prefix):
    return matches(prefix + "_[0-7][0-9a-hjkmnp-tv-z]{25}")


def timestamp(value):
    if not matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")(value):
        return False
    try:
        datetime.strptime(value[:19], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return value[17:19] <= "59"


is_digest = matches("sha256:[0-9a-f]{64}")
boolean = lambda value: isinstance(value, bool)
word, sentence = text(256), text(4_096)
kid = matches("[0-9a-f]{32}")
reference = matches(r"[A-Za-z0-9._~:@/+=-]{1,256}")

ACTOR = dict(type=one_of("agent", "user", "admin_key", "operator", "system"), id=or_null(word))
actor = closed(**ACTOR)

COMMON = dict(
    id=an_id("deed"),
    org=an_id("org"),
    seq=at_least(1),
    kind=one_of("action", "amendment", "admin"),
    issued_at=timestamp,
    source=closed(
        stream=matches(r"[a-z]+(-[A-Za-z0-9_-]{1,200})?"),
        revision=at_least(0),
        event_id=matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ),
    chain=closed(prev_hash=or_null(is_digest), kid=kid),
    who=closed(
        actor=actor,
        agent=or_null(an_id("agt")),
        key=or_null(an_id("key")),
        on_behalf_of=or_null(reference),
        session=or_null(reference),
        intent_signed=or_null(boolean),
        intent_hash=or_null(is_digest),
    ),
    policy=or_null(
        closed(
            outcome=one_of("allow", "deny", "require_approval"),
            code=or_null(word),
            source=one_of("rule", "default", "budget", "stop", "builtin"),
            rule_id=or_null(word),
            reason=or_null(sentence),
            message=or_null(sentence),
            policy=or_null(an_id("pol")),
            policy_version=or_null(an_id("pv")),
            input_digest=or_null(is_digest),
            decided_at=timestamp,
        )
    ),
    witness=or_null(
        closed(
            level=one_of("L0", "L1", "L2"),
            verdict=one_of("VERIFIED", "MISMATCH", "UNVERIFIABLE"),
            method=word,
            reasons=many(word, 32),
            evidence_digest=or_null(is_digest),
        )
    ),
    cost=or_null(closed(amount=at_least(0), currency=matches("[a-z]{3}"))),
    admin=or_null(
        closed(
            action=matches(r"[a-z][a-z_]{0,63}\.[a-z][a-z_]{0,63}"),
            target=closed(type=matches("[a-z][a-z_]{0,63}"), id=word),
            reason=or_null(sentence),
            data_digest=or_null(is_digest),
        )
    ),
)

ACTION = dict(
    id=an_id("act"),
    tool=text(200),
    tool_truncated=boolean,
    mode=one_of("gateway", "proxy"),
    livemode=boolean,
    connector=or_null(an_id("con")),
    tool_digest=or_null(is_digest),
    args_digest=is_digest,
    request_digest=is_digest,
    created_at=timestamp,
)

APPROVAL = dict(
    id=an_id("apr"),
    status=one_of("approved", "denied", "expired", "cancelled"),
    required=at_least(1),
    context_digest=is_digest,
    expires_at=timestamp,
    decided_at=timestamp,
)

EXECUTION = dict(
    status=one_of("succeeded", "failed", "unknown"),
    attempts=at_least(0),
    error_code=or_null(word),
    result_digest=or_null(is_digest),
    started_at=or_null(timestamp),
    finished_at=timestamp,
)

WORD_OF_PERSON = dict(reason=or_null(is_digest), assertion=or_null(is_digest))

FIRST_BODY = closed(
    v=one_of("service.deed/1"),
    action=or_null(closed(**ACTION)),
    approval=or_null(
        closed(
            **APPROVAL, countersigned=many(closed(by=an_id("usr"), at=timestamp), 64), decided_by=or_null(actor)
        )
    ),
    execution=or_null(closed(**EXECUTION)),
    **COMMON,
)

SALTED_BODY = closed(
    v=one_of("service.deed/2"),
    action=or_null(closed(**ACTION, undo_of=or_null(an_id("act")))),
    approval=or_null(
        closed(
            **APPROVAL,
            countersigned=many(closed(by=an_id("usr"), at=timestamp, context=is_digest, **WORD_OF_PERSON), 64),
            decided_by=or_null(closed(**ACTOR, **WORD_OF_PERSON)),
        )
    ),
    execution=or_null(closed(**EXECUTION, first_sent_at=or_null(timestamp), message=or_null(is_digest))),
    **COMMON,
)


def BODY(value):
    return FIRST_BODY(value) or SALTED_BODY(value)


MANIFEST = dict(
    **{"from": or_null(timestamp)},
    org=an_id("org"),
    to=or_null(timestamp),
    first_seq=or_null(at_least(1)),
    last_seq=or_null(at_least(1)),
    count=at_least(0),
    prev_hash=or_null(is_digest),
    head=or_null(closed(seq=at_least(1), body_hash=is_digest)),
    keys=many(is_digest, 10_000),
    created_at=timestamp,
    service_version=text(64),
)
FILES = ("checkpoint.txt", "range.json", "payloads.ndjson")
FIRST_MANIFEST = closed(v=one_of("service.bundle/1"), **MANIFEST)
SECOND_MANIFEST = closed(v=one_of("service.bundle/2"), files=many(one_of(*FILES), len(FILES)), **MANIFEST)

HASHES = many(matches("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="), 64)
RANGE = closed(first=at_least(1), last=at_least(1), size=at_least(1), left=HASHES, right=HASHES)
NAME = closed(id=matches("[A-Za-z0-9_-]{1,64}"), name=text(4_096), type=matches("[a-z_]{1,32}"))

KEY_LIST = many(
    closed(
        kid=kid,
        alg=one_of("Ed25519"),
        public_key=matches("ed25519:[A-Za-z0-9_-]{43}"),
        activated_at=timestamp,
        retired_at=or_null(timestamp),
        revoked_at=or_null(timestamp),
    ),
    10_000,
)
KEYS = closed(keys=KEY_LIST)
PUBLISHED_KEYS = closed(object=one_of("seal_key_set"), keys=KEY_LIST)


def keeps_the_rules(body):
    """The rules between members."""
    kind, who, admin = body["kind"], body["who"], body["admin"]
    policy, approval = body["policy"], body["approval"]
    name = "service/deed-id/v1\n" + body["org"] + "\n" + body["source"]["event_id"]
    return all(
        (
            body["id"] == encode_id("deed", hashlib.sha256(name.encode()).digest()[:16]),
            (body["chain"]["prev_hash"] is None) == (body["seq"] == 1),
            names_an_actor(who["actor"], who),
            (who["intent_hash"] is not None) == (who["intent_signed"] is True),
            (body["action"] is None) == (kind == "admin"),
            body["policy"] is not None if kind == "action" else kind == "amendment" or body["policy"] is None,
            kind == "amendment" or (approval is not None) == (kind == "action" and asks_people(policy)),
            approval is None or is_signed(approval),
            approval is None or is_decided_by_whom_it_may(approval, who),
            approval is None or only_people_give_reasons(approval["decided_by"]),
            body["execution"] is None or (kind != "admin" and (approval is None or approval["status"] == "approved")),
            body["witness"] is not None if kind == "amendment" else kind == "action" or body["witness"] is None,
            kind != "admin" or body["cost"] is None,
            (admin is not None) == (kind == "admin"),
            not revokes(body) or (admin["target"]["type"] == "seal_key" and kid(admin["target"]["id"])),
        )
    )


def names_an_actor(actor, who):
    return {
        "agent": actor["id"] is not None and actor["id"] == who["agent"],
        "user": an_id("usr")(actor["id"]),
        "admin_key": an_id("key")(actor["id"]),
    }.get(actor["type"], True)


def asks_people(policy):
    return policy is not None and policy["outcome"] == "require_approval"


def is_signed(approval):
    signers = [signature["by"] for signature in approval["countersigned"]]
    is_enough = approval["status"] != "approved" or len(signers) >= approval["required"]
    return len(set(signers)) == len(signers) and is_enough


def is_decided_by_whom_it_may(approval, who):
    by, status = approval["decided_by"], approval["status"]
    if by is None or status == "expired":
        return by is None and status == "expired"
    return names_an_actor(by, who) and (status == "cancelled" or by["type"] == "user")


def only_people_give_reasons(by):
    return by is None or by["type"] == "user" or (by.get("reason"), by.get("assertion")) == (None, None)


def revokes(body):
    return body["admin"] is not None and body["admin"]["action"] == "seal_key.revoked"


# --- keys and signatures ---------------------------------------------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(one, other):
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + product, P - 2, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - product, P - 2, P) % P,
    )


def times(scalar, point):
    result = (0, 1)
    for bit in bin(scalar)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


@lru_cache(maxsize=64)
def is_key(data):
    """A canonical point of the prime-order group, other than the identity."""
    encoded = int.from_bytes(data, "little")
    sign, y = encoded >> 255, encoded & (2**255 - 1)
    if y >= P:
        return False
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or (x == 0 and sign == 1):
        return False
    point = (P - x if x & 1 != sign else x, y)
    return point != (0, 1) and times(ORDER, point) == (0, 1)


def holds(key, signature_text, message):
    signature = base64url(signature_text)
    if signature is None or len(signature) != 64 or signature[:32] == b"\x01" + bytes(31):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except InvalidSignature:
        return False


def key_bytes(entry):
    return base64url(entry["public_key"][len("ed25519:") :]) or b""


# --- the file --------------------------------------------------------------------------------------------------------


class Archive:
    """What the gzip member holds, and how it ends: `fault` is raised where its content runs out."""

    def __init__(self, file):
        self.at, self.fault, self.padding = 0, "truncated", 0
        known = min(len(file), 4)
        if file[:known] != bytes.fromhex("1f8b0800")[:known]:
            raise Refused("bad_gzip")
        self.content, rest, state = inflated(file[10:])
        if state == "wrong" or (state == "ended" and len(rest) > 8):
            self.fault = "bad_gzip"
        elif state == "ended" and len(rest) == 8:
            trailer = zlib.crc32(self.content).to_bytes(4, "little") + (len(self.content) % 2**32).to_bytes(4, "little")
            self.fault = None if rest == trailer else "bad_gzip"

    def take(self, count):
        if self.at + count > len(self.content):
            raise Refused(self.fault or "truncated")
        self.at += count
        return self.content[self.at - count : self.at]

    def header(self, name):
        self.zeros(self.padding)
        self.padding = 0
        block = self.take(512)
        size = block[124:136]
        if re.fullmatch(rb"[0-7]{11}\0", size) is None or block != tar_header(name, size):
            raise Refused("bad_tar")
        return int(size[:11], 8)

    def zeros(self, count):
        if self.take(count).strip(b"\0"):
            raise Refused("bad_tar")

    def entry(self, name, most):
        size = self.header(name)
        if size > most:
            raise Refused("bad_tar")
        content = self.take(size)
        self.zeros(-size % 512)
        return content

    def file(self, name, most):
        """A file behind the deeds: its padding is judged with what follows."""
        size = self.header(name)
        if size > most:
            raise Refused("bad_tar")
        self.padding = -size % 512
        return self.take(size)

    def lines(self, name, most, reason):
        """The lines of a file, each with its line feed."""
        size = left = self.header(name)
        while left > 0:
            longest = min(left, most)
            end = self.content.find(b"\n", self.at, self.at + longest)
            if end < 0 and self.at + longest <= len(self.content):
                raise Refused(reason)
            line = self.take(end + 1 - self.at) if end >= 0 else self.take(longest)
            left -= len(line)
            yield line
        self.padding = -size % 512

    def end(self):
        self.zeros(self.padding + 1_024)
        if self.at != len(self.content):
            raise Refused("bad_tar")
        if self.fault is not None:
            raise Refused(self.fault)


def inflated(data):
    """What a deflate stream holds before it ends or is wrong, what follows its end, and how it stands with it."""
    inflate, content = zlib.decompressobj(-15), []
    for at in range(0, len(data), 4_096):
        before, piece = inflate.copy(), data[at : at + 4_096]
        try:
            content.append(inflate.decompress(piece))
        except zlib.error:
            content.extend(before_the_wrong_byte(before, piece))
            return b"".join(content), b"", "wrong"
    return b"".join(content), inflate.unused_data, "ended" if inflate.eof else "open"


def before_the_wrong_byte(inflate, piece):
    """zlib gives nothing together with an error: so byte after byte."""
    for byte in piece:
        try:
            yield inflate.decompress(bytes((byte,)))
        except zlib.error:
            return


def tar_header(name, size):
    block = name.encode().ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + size + b"0" * 11 + b"\0"
    block += b" " * 8 + b"0" + bytes(100) + b"ustar\x0000" + bytes(64) + b"0000000\0" * 2
    block = block.ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def read_manifest(data):
    manifest = canonical(data, 4)
    if manifest is None or not (FIRST_MANIFEST(manifest) or SECOND_MANIFEST(manifest)):
        raise Refused("bad_manifest")
    files = manifest.get("files", [])
    if files != [name for name in FILES if name in files] or ("checkpoint.txt" in files) != ("range.json" in files):
        raise Refused("bad_manifest")
    if manifest["count"] == 0 and "checkpoint.txt" in files:
        raise Refused("bad_manifest")
    first, last, start, end = manifest["first_seq"], manifest["last_seq"], manifest["from"], manifest["to"]
    consistent = start is None or end is None or start < end
    if first is None or last is None:
        consistent = consistent and (first, last, manifest["prev_hash"], manifest["count"]) == (None, None, None, 0)
    else:
        consistent = consistent and 1 <= manifest["count"] == last - first + 1
        consistent = consistent and (manifest["prev_hash"] is None) == (first == 1)
        consistent = consistent and manifest["head"] is not None and manifest["head"]["seq"] >= last
    if not consistent:
        raise Refused("bad_manifest")
    return manifest


def read_keys(data):
    keys = canonical(data, 4)
    if keys is None or not KEYS(keys) or not is_key_set(keys["keys"]):
        raise Refused("bad_keys")
    return keys["keys"]


def read_published_keys(data):
    """The key set that the service publishes: any spelling of its JSON, no name twice."""
    try:
        keys = json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        keys = None
    if len(data) > MAX_KEYS or not PUBLISHED_KEYS(keys) or not is_key_set(keys["keys"]):
        raise ValueError("not a key set as the service publishes it")
    return keys["keys"]


def is_key_set(entries):
    own_kids = all(len(key_bytes(key)) == 32 and digest(key_bytes(key))[7:39] == key["kid"] for key in entries)
    return own_kids and len({key["kid"] for key in entries}) == len(entries)


# --- the chain -------------------------------------------------------------------------------------------------------

LINE = re.compile(
    rb'\{"body":"([A-Za-z0-9_-]+)","body_hash":"(sha256:[0-9a-f]{64})","kid":"([0-9a-f]{32})",'
    rb'"seq":([1-9][0-9]{0,15}),"signature":"([A-Za-z0-9_-]{86})"\}\n'
)


class Check:
    def __init__(self, org, pins, heads, key_set, logs, policy):
        self.org, self.pins, self.user_heads, self.key_set = org, pins, heads, key_set
        self.logs, self.policy = logs, policy
        self.manifest, self.keys, self.file_fault, self.fault_seq = None, None, None, None
        self.leaves, self.bodies = [], {}
        self.words, self.evidence, self.approvals, self.intents = NO_CHECKPOINT, None, None, None
        self.chain_fault, self.trust_fault = None, None
        self.seq, self.last_hash, self.last_time, self.deeds = None, None, None, 0
        self.first_by_kid, self.deeds_by_kid, self.revoked = {}, {}, set()

    def read(self, archive):
        manifest = read_manifest(archive.entry("manifest.json", 1_048_576))
        self.manifest = manifest
        if manifest["org"] != self.org:
            raise Refused("wrong_org")
        entries = read_keys(archive.entry("keys.json", MAX_KEYS))
        if [digest(key_bytes(key)) for key in entries] != manifest["keys"]:
            raise Refused("bad_keys")
        in_bundle = {key["kid"]: key["public_key"] for key in entries}
        counting = entries if self.key_set is None else self.key_set
        if any(in_bundle.get(key["kid"], key["public_key"]) != key["public_key"] for key in counting):
            raise Refused("key_conflict")
        if not all(is_key(key_bytes(key)) for key in counting if digest(key_bytes(key)) in self.pins):
            raise Refused("bad_keys")
        self.keys = {key["kid"]: key for key in counting}
        self.heads = self.user_heads + ([manifest["head"]] if manifest["head"] else [])
        self.seq, self.last_hash = (manifest["first_seq"] or 1) - 1, manifest["prev_hash"]
        if self.contradicts(self.seq, self.last_hash):
            self.chain_fault = (self.seq + 1, "head_mismatch")
            return
        self.read_deeds(archive)

    def read_deeds(self, archive):
        for line in archive.lines("deeds.ndjson", MAX_LINE, "bad_line"):
            reason = self.judge(line)
            if reason is not None:
                self.chain_fault = (self.seq + 1, reason)
                return
        self.read_files(archive)
        archive.end()

    def read_files(self, archive):
        manifest, note = self.manifest, None
        files = manifest.get("files", [])
        is_whole = self.seq >= (manifest["last_seq"] or 0)
        if "checkpoint.txt" in files:
            data = archive.file("checkpoint.txt", MAX_NOTE)
            note = read_checkpoint(data, self.org, manifest["last_seq"], self.logs, self.policy) if is_whole else None
            data = archive.file("range.json", MAX_RANGE)
            if is_whole:
                judge_range(data, manifest, note[0], self.leaves)
                self.words = note[1]
        if "payloads.ndjson" in files:
            signatures = passkeys.Signatures(self.org, self.bodies, manifest["first_seq"] == 1, is_key)
            calls = intents.Intents(self.org, self.bodies, manifest["first_seq"] == 1, is_key, canonical)
            payloads = Payloads(self.bodies, signatures, calls)
            try:
                for line in archive.lines("payloads.ndjson", MAX_PAYLOAD_LINE, "bad_evidence"):
                    if is_whole:
                        payloads.judge(line[:-1])
            except Refused as refused:
                if refused.reason in ("bad_evidence", "bad_assertion", "bad_intent"):
                    self.words = NO_CHECKPOINT
                raise
            self.evidence = payloads.counts if is_whole else None
            self.approvals = signatures.counts() if is_whole else None
            self.intents = calls.counts() if is_whole else None

    def contradicts(self, seq, body_hash):
        return any(head["seq"] == seq and head["body_hash"] != body_hash for head in self.heads)

    def distrust(self, seq, reason):
        if self.trust_fault is None or seq < self.trust_fault[0]:
            self.trust_fault = (seq, reason)

    def judge(self, line):
        """Steps a to n of the format page; the reason that ends the check, or None."""
        n, manifest = self.seq + 1, self.manifest
        match = LINE.fullmatch(line)
        groups = [group.decode() for group in match.groups()] if match else None
        data = base64url(groups[0]) if groups else None
        if data is None or len(data) > MAX_BODY or int(groups[3]) > MAX_SAFE:
            return "bad_line"
        _, body_hash, line_kid, seq, signature = groups
        if int(seq) != n:
            return "gap" if int(seq) > n else "duplicate"
        if manifest["last_seq"] is None or n > manifest["last_seq"]:
            return "extra_deed"
        if digest(data) != body_hash:
            return "body_hash_mismatch"
        body = canonical(data, 8)
        if body is None:
            return "not_canonical"
        if not BODY(body) or not keeps_the_rules(body):
            return "schema"
        if body["seq"] != n:
            return "wrong_seq"
        if body["chain"]["kid"] != line_kid:
            return "wrong_kid"
        if body["org"] != self.org:
            return "wrong_org"
        trust, broken = self.judge_seal(body, body_hash, signature)
        if broken is not None:
            return broken
        if trust is not None:
            self.distrust(n, trust)
        if line_kid in self.revoked:
            self.distrust(n, "seal_key_revoked")
        return self.judge_place(n, body, body_hash) or self.advance(n, body, body_hash, trust)

    def judge_seal(self, body, body_hash, signature):
        key = self.keys.get(body["chain"]["kid"])
        if key is None:
            return "unknown_key", None
        if digest(key_bytes(key)) not in self.pins:
            return "key_not_pinned", None
        if not holds(key_bytes(key), signature, b"service/deed/v1\n" + body_hash.encode()):
            return None, "bad_signature"
        if key["revoked_at"] is not None:
            return "seal_key_revoked", None
        retired = key["retired_at"] is not None and body["issued_at"] >= key["retired_at"]
        return ("outside_key_window" if body["issued_at"] < key["activated_at"] or retired else None), None

    def judge_place(self, n, body, body_hash):
        issued, start, end = body["issued_at"], self.manifest["from"], self.manifest["to"]
        if body["chain"]["prev_hash"] != self.last_hash:
            return "broken_link"
        if self.last_time is not None and issued < self.last_time:
            return "time_went_back"
        if (start is not None and issued < start) or (end is not None and issued >= end):
            return "outside_range"
        return "head_mismatch" if self.contradicts(n, body_hash) else None

    def advance(self, n, body, body_hash, trust):
        own = body["chain"]["kid"]
        self.seq, self.last_hash, self.last_time, self.deeds = n, body_hash, body["issued_at"], self.deeds + 1
        self.leaves.append(tlog.leaf_hash(bytes.fromhex(body_hash[7:])))
        self.bodies[n] = body
        self.first_by_kid.setdefault(own, n)
        self.deeds_by_kid[own] = self.deeds_by_kid.get(own, 0) + 1
        if trust is None and revokes(body):
            self.revoked.add(body["admin"]["target"]["id"])
        for revoked in self.revoked & set(self.first_by_kid):
            self.distrust(self.first_by_kid[revoked], "seal_key_revoked")

    # --- the verdict -------------------------------------------------------------------------------------------------

    def remainder(self):
        manifest, next_seq = self.manifest, None if self.seq is None else self.seq + 1
        if self.file_fault == "truncated":
            return "incomplete", "truncated", next_seq
        if self.file_fault is not None:
            return "broken", self.file_fault, next_seq if self.file_fault == "bad_line" else self.fault_seq
        first, last = manifest["first_seq"], manifest["last_seq"]
        if first is None:
            return "incomplete", "no_deeds", None
        if next_seq <= last:
            return "incomplete", "missing_deeds", next_seq
        if manifest["from"] is None and first != 1:
            return "incomplete", "front_missing", 1
        early = [head["seq"] for head in self.user_heads if head["seq"] < first - 1]
        if early:
            return "incomplete", "front_missing", min(early)
        heads = self.heads if manifest["to"] is None else self.user_heads
        if any(head["seq"] > last for head in heads):
            return "incomplete", "tail_missing", last + 1
        if self.logs and (self.words["checkpoint"] is None or self.words["quorum"] == "not_met"):
            return "incomplete", "not_witnessed", None
        return "intact", None, None

    def verdict(self):
        remainder = self.remainder()
        faults = [fault for fault in (self.trust_fault, self.chain_fault) if fault is not None]
        result, reason, seq = remainder
        if faults:
            seq, reason = min(faults, key=lambda fault: fault[0])
            result = "broken"
        held = self.deeds > 0
        last = self.manifest["last_seq"] if self.manifest else None
        is_end_known = last is not None and any(head["seq"] >= last for head in self.user_heads)
        is_end_witnessed = self.words["quorum"] == "met" and self.words["checkpoint"]["size"] == last
        return {
            "object": "bundle_verdict",
            "result": result,
            "reason": reason,
            "first_bad_seq": seq,
            "links_intact": self.seq is not None and self.chain_fault is None and remainder[0] == "intact",
            "org": self.org,
            "deeds": self.deeds,
            "first_seq": self.manifest["first_seq"] if held else None,
            "last_seq": self.seq if held else None,
            "prev_hash": self.manifest["prev_hash"] if held else None,
            "head": {"seq": self.seq, "body_hash": self.last_hash} if held else None,
            "keys_from": "bundle" if self.key_set is None else "reader",
            "end_from": "reader" if is_end_known else "witnesses" if is_end_witnessed else "bundle",
            "keys": [
                {
                    "kid": key["kid"],
                    "fingerprint": digest(key_bytes(key)),
                    "pinned": digest(key_bytes(key)) in self.pins,
                    "deeds": self.deeds_by_kid.get(key["kid"], 0),
                }
                for key in (self.keys or {}).values()
            ],
            **self.words,
            "evidence": self.evidence,
            "approvals": self.approvals,
            "intents": self.intents,
        }


# --- the checkpoint --------------------------------------------------------------------------------------------------

NO_CHECKPOINT = {"checkpoint": None, "witnesses": [], "quorum": None, "exists_since": None}


def read_checkpoint(data, org, last, logs, policy):
    """The checkpoint of a note, and what the verdict says of it."""
    try:
        note = tlog.parse_note(data)
        checkpoint = tlog.parse_checkpoint_text(note.text)
    except tlog.Refused:
        raise Refused("bad_checkpoint") from None
    if not last <= checkpoint.size <= MAX_SAFE:
        raise Refused("bad_checkpoint")
    if not re.search("/ledger/" + org + "(/[1-9][0-9]{0,15})?\\Z", checkpoint.origin):
        raise Refused("wrong_origin")
    word = {"size": checkpoint.size, "root": tlog.to_base64(checkpoint.root), "made_by": checkpoint.origin}
    if not logs:
        return checkpoint, {**NO_CHECKPOINT, "checkpoint": {**word, "signed": False}}
    if all(log.name != checkpoint.origin for log in logs):
        raise Refused("wrong_origin")
    signed = times_of(note, logs, "bad_checkpoint")
    witnesses = policy.witnesses if policy else {}
    seen = times_of(note, witnesses.values(), "bad_cosignature")
    if not any(log in signed and log.name == checkpoint.origin for log in logs):
        raise Refused("checkpoint_not_signed")
    cosigned = [(name, key) for name, key in witnesses.items() if key in seen]
    reached = reached_by(policy)
    words = [
        {"name": as_word(name), "at": as_timestamp(seen[key]), "counts": name in reached} for name, key in cosigned
    ]
    quorum = "none" if policy is None or policy.quorum == b"none" else "not_met"
    if quorum != "none" and tlog.is_met(policy, policy.quorum, {name for name, _ in cosigned}):
        quorum = "met"
    timed = [(as_timestamp(seen[key]), name) for name, key in cosigned if as_timestamp(seen[key]) is not None]
    since = None
    for time in sorted({time for time, _ in timed}):
        if quorum == "met" and since is None and tlog.is_met(policy, policy.quorum, {name for at, name in timed if at <= time}):
            since = time
    return checkpoint, {
        "checkpoint": {**word, "signed": True},
        "witnesses": words,
        "quorum": quorum,
        "exists_since": since,
    }


def times_of(note, keys, reason):
    """The timestamps of the lines of each of these keys."""
    times = {}
    for line in note.lines:
        known = [key for key in keys if (key.name, key.id) == (line.name, line.id)]
        verified = []
        for key in known:
            try:
                verified.append((key, tlog.verify_line(key, note.text, line.signature)))
            except tlog.Refused:
                continue
        if known and not verified:
            raise Refused(reason)
        for key, time in verified:
            times.setdefault(key, []).append(time)
    return times


def reached_by(policy):
    """The names that the quorum of a policy asks for, by itself or through groups."""
    names = set() if policy is None else {policy.quorum}
    while policy is not None:
        more = {member for name in names if name in policy.groups for member in policy.groups[name].members}
        if more <= names:
            break
        names |= more
    return names


def as_word(octets):
    """Names of a policy are octets: one that is no UTF-8 has a lone surrogate for each octet above 0x7F."""
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(octet if octet < 0x80 else 0xDC00 + octet) for octet in octets)


def as_timestamp(times):
    seconds = min((time for time in times if time > 0), default=None)
    if seconds is None or seconds > 253_402_300_799:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def judge_range(data, manifest, checkpoint, leaves):
    bounds = canonical(data, 4)
    expected = (manifest["first_seq"], manifest["last_seq"], checkpoint.size)
    if bounds is None or not RANGE(bounds) or (bounds["first"], bounds["last"], bounds["size"]) != expected:
        raise Refused("bad_checkpoint")
    try:
        root = tlog.range_root(bounds, leaves)
    except tlog.Refused:
        raise Refused("bad_checkpoint") from None
    if root != checkpoint.root:
        raise Refused("root_mismatch")


# --- what deeds stand for --------------------------------------------------------------------------------------------

SHA = rb'"(sha256:[0-9a-f]{64})"'
MEMBER = rb'"([a-z_]{1,32}(?:\.[a-z0-9_]{1,32}){1,3})"'
SEQ = rb"([1-9][0-9]{0,15})"
WORD = rb'"([a-z_]{1,32})"'
VALUE = rb',"value":'
OPENED = re.compile(
    rb'\{"commitment":' + SHA + rb',"member":' + MEMBER + rb',"salt":(null|"[A-Za-z0-9_-]{43}"),"seq":' + SEQ + VALUE
)
DOCUMENT = re.compile(
    rb'\{"digest":' + SHA + rb',"document":' + WORD + rb',"seq":' + SEQ + rb'(?:,"signature":"([A-Za-z0-9_-]{86})")?' + VALUE
)
TOLD = re.compile(rb'\{"digest":' + SHA + rb',"document":' + WORD + rb',"id":"([a-z0-9_]{1,64})"' + VALUE)
TAKEN = re.compile(
    rb'\{"absent":"(removed|missing)","commitment":' + SHA + rb',"member":' + MEMBER + rb',"seq":' + SEQ + rb"\}"
)
NAMED_BY = {"connector_config": "config_hash", "policy_source": "source_hash"}
LAST = 2**62


def json_value(data):
    """The value of JSON bytes as a tuple, or None."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_float)
    except (ValueError, RecursionError):
        return None
    return (value,) if depth(value) <= 128 and is_plain(value) else None


def is_plain(value):
    """Every text is one of Unicode, and every number one that a double holds."""
    if isinstance(value, str):
        return not re.search("[\ud800-\udfff]", value)
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    return not isinstance(value, (int, float)) or abs(value) < 2**1024 and value not in (float("inf"), float("-inf"))


def members_of(body):
    """The members of a deed that stand for values, in their order, with their digests."""
    salted = body["v"] == "service.deed/2"
    paths = ["who.intent_hash", "action.args_digest", "action.request_digest", "policy.input_digest", "approval.context_digest"]
    if salted and body["approval"] is not None:
        for index in range(len(body["approval"]["countersigned"])):
            paths += [f"approval.countersigned.{index}.{word}" for word in ("context", "reason", "assertion")]
        paths += ["approval.decided_by.reason", "approval.decided_by.assertion"]
    paths += ["execution.result_digest", "execution.message", "witness.evidence_digest", "admin.data_digest"]
    found = {}
    for path in paths:
        value = body
        for name in path.split("."):
            if value is not None:
                value = value[int(name)] if isinstance(value, list) else value.get(name)
        if value is not None:
            found[path] = value
    return found


class Payloads:
    """Judges the lines of payloads.ndjson one by one."""

    def __init__(self, bodies, signatures, calls):
        self.signatures, self.calls = signatures, calls
        self.bodies, self.place, self.data = bodies, (1, 0, 0, b""), (0, None)
        self.counts = {"given": 0, "removed": 0, "missing": 0, "unproven": 0}
        self.counts["not_given"], self.intent_taken_at = sum(len(members_of(body)) for body in bodies.values()), None

    def judge(self, line):
        if line.startswith(b'{"id":'):
            name = canonical(line, 1) if len(line) <= 32_768 else None
            if name is None or not NAME(name):
                raise Refused("bad_evidence")
            return self.accept(None, (3, 0, 0, f"{name['type']} {name['id']}".encode()), "unproven")
        taken = TAKEN.fullmatch(line)
        if taken is not None:
            absent, commitment, member, seq = [group.decode() for group in taken.groups()]
            _, place = self.member(seq, member, commitment)
            if member == "who.intent_hash":
                self.intent_taken_at = int(seq)
            return self.accept(int(seq), place, absent)
        for form, judge in ((OPENED, self.opened), (DOCUMENT, self.document), (TOLD, self.told)):
            match = form.match(line, 0, 512)
            if match is not None and line.endswith(b"}") and len(line) > match.end() + 1:
                groups = [None if group is None else group.decode() for group in match.groups()]
                return judge(*groups, line[match.end() : -1])
        raise Refused("bad_evidence")

    def accept(self, seq, place, count):
        if place <= self.place:
            raise Refused("bad_evidence", seq)
        self.place = place
        self.counts[count] += 1
        is_intent_again = place[2:] == (LAST, b"intent") and self.intent_taken_at == seq
        self.counts["not_given"] -= count != "unproven" and not is_intent_again

    def body(self, seq):
        if int(seq) > MAX_SAFE:
            raise Refused("bad_evidence")
        if int(seq) not in self.bodies:
            raise Refused("bad_evidence", int(seq))
        return self.bodies[int(seq)]

    def member(self, seq, member, commitment):
        body = self.body(seq)
        members = members_of(body)
        if members.get(member) != commitment:
            raise Refused("bad_evidence", int(seq))
        return body, (1, int(seq), list(members).index(member), b"")

    def opened(self, commitment, member, salt, seq, data):
        body, place = self.member(seq, member, commitment)
        if salt == "null":
            found, is_first = digest(data), True
        else:
            known = base64url(salt[1:-1])
            if known is None:
                raise Refused("bad_evidence")
            found, is_first = digest(b"service/commit/v1\n" + known + b"\n" + data), False
        value = json_value(data)
        is_right = is_first == (body["v"] == "service.deed/1") and member != "who.intent_hash"
        if found != commitment or value is None or not is_right:
            raise Refused("bad_evidence", int(seq))
        if place <= self.place:
            raise Refused("bad_evidence", int(seq))
        if not self.signatures.take(int(seq), member, data, value[0]):
            raise Refused("bad_assertion", int(seq))
        self.calls.take(int(seq), member, data, value[0])
        self.accept(int(seq), place, "given")
        if member == "admin.data_digest":
            self.data = (int(seq), value[0])
            named = [value[0].get(name) for name in NAMED_BY.values()] if isinstance(value[0], dict) else []
            self.counts["not_given"] += sum(is_digest(one) for one in named)

    def document(self, claimed, document, seq, signature, data):
        members = members_of(self.body(seq))
        if document == "intent":
            proven = signature is not None and members.get("who.intent_hash") == claimed
        else:
            at, value = self.data
            named = value.get(NAMED_BY.get(document)) if at == int(seq) and isinstance(value, dict) else None
            proven = signature is None and document in NAMED_BY and named == claimed
        if not proven or not is_of_digest(document, data, claimed):
            raise Refused("bad_evidence", int(seq))
        place = (1, int(seq), LAST, document.encode())
        if place <= self.place:
            raise Refused("bad_evidence", int(seq))
        if document == "intent" and not self.calls.judge(int(seq), data, signature):
            raise Refused("bad_intent", int(seq))
        self.accept(int(seq), place, "given")

    def told(self, claimed, document, of, data):
        if document not in ("connector_config", "intent_key", "policy_source") or not is_of_digest(document, data, claimed):
            raise Refused("bad_evidence")
        self.accept(None, (2, 0, 0, f"{document} {of}".encode()), "unproven")


def is_of_digest(document, data, claimed):
    value = json_value(data)
    if value is None:
        return False
    if document != "policy_source":
        return digest(data) == claimed
    return isinstance(value[0], str) and digest(value[0].encode("utf-8", "surrogatepass")) == claimed


# --- the program -----------------------------------------------------------------------------------------------------


def verify(file, org, pins, heads=(), key_set=None, checkpoint_keys=(), policy=None):
    """The verdict about the bytes of a bundle. `checkpoint_keys` are vkeys, `policy` is the bytes of a tlog-policy."""
    read = None if policy is None else tlog.parse_policy(policy)
    logs = [tlog.key_from_vkey(text) for text in checkpoint_keys] or ([] if read is None else read.logs)
    if read is not None and not logs:
        raise ValueError("witnesses need the key of a log")
    check = Check(org, set(pins), list(heads), key_set, logs, read)
    try:
        check.read(Archive(file))
    except Refused as refused:
        check.file_fault, check.fault_seq = refused.reason, refused.seq
    return check.verdict()


def head(argument):
    seq, _, body_hash = argument.partition(":")
    if not matches("[1-9][0-9]{0,15}")(seq) or not is_digest(body_hash):
        raise argparse.ArgumentTypeError("a head is SEQ:sha256:HEX")
    return {"seq": int(seq), "body_hash": body_hash}


def checked(check, what):
    def parse(argument):
        if not check(argument):
            raise argparse.ArgumentTypeError("not " + what)
        return argument

    return parse


def main():
    parser = argparse.ArgumentParser(description="Judges an export bundle offline.")
    parser.add_argument("bundle")
    parser.add_argument("--org", required=True, type=checked(an_id("org"), "an organization id"))
    parser.add_argument("--pin", action="append", default=[], type=checked(is_digest, "sha256: and 64 hex characters"))
    parser.add_argument("--head", action="append", default=[], type=head)
    parser.add_argument("--keys", help="the key set of the service, which then counts instead of the bundle's")
    parser.add_argument("--checkpoint-key", action="append", default=[], help="a vkey of the log's checkpoints")
    parser.add_argument("--witnesses", help="a tlog-policy: which witnesses are asked, and how many of them")
    arguments = parser.parse_args()
    policy = None
    if arguments.witnesses is not None:
        with open(arguments.witnesses, "rb") as file:
            policy = file.read()
    key_set = None
    if arguments.keys is not None:
        with open(arguments.keys, "rb") as file:
            key_set = read_published_keys(file.read())
    with open(arguments.bundle, "rb") as file:
        verdict = verify(
            file.read(), arguments.org, arguments.pin, arguments.head, key_set, arguments.checkpoint_key, policy
        )
    print(json.dumps(verdict))
    return 0 if verdict["result"] == "intact" else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, tlog.Refused) as error:
        print(error, file=sys.stderr)
        sys.exit(2)

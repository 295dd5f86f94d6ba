"""Judges what an agent's runtime signed, from docs/deed-format.md (Signed intents) and docs/signed-intents.md alone."""
import base64
import hashlib
import re
from datetime import datetime, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SKEW_MS, LIFETIME_MS = 60_000, 300_000
REFERENCE = r"[A-Za-z0-9._~:@/+=-]{1,256}"
ID = "[0-7][0-9a-hjkmnp-tv-z]{25}"
TEXTS = {
    "v": r"service\.intent/1",
    "org": "org_" + ID,
    "agent": "agt_" + ID,
    "kid": "[0-9a-f]{32}",
    "tool": r"(?=.{1,200}$)[a-z][a-z0-9-]{1,31}\.[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}",
    "args_digest": "sha256:[0-9a-f]{64}",
    "nonce": "[0-9a-f]{32}",
}
OPTIONAL = {"on_behalf_of": REFERENCE, "session": REFERENCE}
TIMES = {"iat", "exp"}


def milliseconds(timestamp):
    read = datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    since = read - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000


def octets(text, count):
    """So many bytes of canonical base64url, or None."""
    if not isinstance(text, str) or not re.fullmatch("[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text and len(data) == count else None


def is_intent(value):
    """`value` is what canonical JSON of integers says, or None."""
    if not isinstance(value, dict) or not set(TEXTS) | TIMES <= set(value) <= set(TEXTS) | TIMES | set(OPTIONAL):
        return False
    forms = {**TEXTS, **{name: form for name, form in OPTIONAL.items() if name in value}}
    if not all(isinstance(value[name], str) and re.fullmatch(form, value[name], re.ASCII) for name, form in forms.items()):
        return False
    return all(type(value[name]) is int and value[name] > 0 for name in TIMES)


class Intents:
    """Checks intents while what is given passes in the order of the deeds."""

    def __init__(self, org, bodies, is_from_the_beginning, is_key, canonical):
        self.org, self.bodies, self.is_key, self.canonical = org, bodies, is_key, canonical
        self.is_from_the_beginning = is_from_the_beginning
        self.data, self.args, self.signed = {}, {}, 0

    def take(self, seq, member, data, value):
        if member == "action.args_digest":
            self.args[seq] = "sha256:" + hashlib.sha256(data).hexdigest()
        if member == "admin.data_digest":
            self.data[seq] = value if isinstance(value, dict) else {}

    def judge(self, seq, data, signature):
        """False for an intent that is wrong."""
        body = self.bodies[seq]
        who, action = body["who"], body["action"]
        intent = self.canonical(data, 1) if len(data) <= 2_048 else None
        if not is_intent(intent) or action is None or action["tool_truncated"]:
            return False
        named = (intent["org"], intent["agent"], intent["tool"], intent.get("on_behalf_of"), intent.get("session"))
        if named != (self.org, who["agent"], action["tool"], who["on_behalf_of"], who["session"]):
            return False
        at, begins, ends = milliseconds(action["created_at"]), intent["iat"], intent["exp"]
        if begins > at + SKEW_MS or at > ends + SKEW_MS or not 0 < ends - begins <= LIFETIME_MS:
            return False
        args = action["args_digest"] if body["v"] == "service.deed/1" else self.args.get(seq)
        if args is not None and args != intent["args_digest"]:
            return False
        key = self.key_at(intent, seq, at)
        if key == "unknown":
            return True
        if key in ("none", "removed") or not holds(key, octets(signature, 64), data):
            return False
        self.signed += args is not None
        return True

    def key_at(self, intent, seq, at):
        """The 32 bytes of the key, or why there is none."""
        found = "none" if self.is_from_the_beginning else "unknown"
        for change_seq, body in sorted(self.bodies.items()):
            admin = body["admin"]
            if change_seq >= seq or admin is None or admin["target"]["id"] != intent["kid"]:
                continue
            if admin["action"] not in ("intent_key.added", "intent_key.removed"):
                continue
            is_removal = admin["action"] == "intent_key.removed"
            if is_removal and milliseconds(body["issued_at"]) + SKEW_MS >= at:
                continue
            if change_seq not in self.data:
                found = "unknown"
                continue
            data = self.data[change_seq]
            if data.get("agent") != intent["agent"]:
                continue
            key = self.key_in(data.get("public_key"))
            if is_removal:
                found = "removed"
            elif key is not None and hashlib.sha256(key).hexdigest()[:32] == intent["kid"]:
                found = key
        return found

    def key_in(self, text):
        if not isinstance(text, str) or not text.startswith("ed25519:"):
            return None
        key = octets(text[len("ed25519:") :], 32)
        return key if key is not None and self.is_key(key) else None

    def counts(self):
        intended = sum(body["who"]["intent_hash"] is not None for body in self.bodies.values())
        calls = [body for body in self.bodies.values() if body["kind"] == "action"]
        unsigned = sum(body["who"]["intent_hash"] is None for body in calls)
        return {"signed": self.signed, "unsigned": unsigned, "unchecked": intended - self.signed}


def holds(key, signature, data):
    if signature is None or signature[:32] == b"\x01" + bytes(31):
        return False
    message = b"service/intent/v1\nsha256:" + hashlib.sha256(data).hexdigest().encode()
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False

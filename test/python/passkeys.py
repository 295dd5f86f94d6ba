"""Judges what a passkey signed, from docs/deed-format.md (Signed decisions) and WebAuthn level 3 alone."""
import base64
import hashlib
import json
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

P256_HEAD = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
ED25519_HEAD = bytes.fromhex("302a300506032b6570032100")
MEMBERS = {"authenticator_data", "client_data_json", "credential", "signature"}


def octets(text, least, most):
    """The bytes of canonical base64url of so many bytes, or None."""
    if not isinstance(text, str) or not re.fullmatch("[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    is_canonical = base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text
    return data if is_canonical and least <= len(data) <= most else None


def challenge_of(org, approval, action, context_digest, decision, user):
    """Base64url. All of it is ASCII without quotes, so that sorted JSON is its RFC 8785 form."""
    signed = {"action": action, "approval": approval, "context_digest": context_digest}
    signed.update({"decision": decision, "org": org, "user": user, "v": "service.approval/1"})
    data = json.dumps(signed, sort_keys=True, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def key_of(registration, is_key):
    """What verifies a signature, or None. `is_key` judges an Ed25519 key as the page does."""
    spki = octets(registration.get("public_key"), 44, 91)
    if spki is None:
        return None
    algorithm = registration.get("alg")
    if algorithm == -7 and spki.startswith(P256_HEAD) and len(spki) == len(P256_HEAD) + 65:
        try:
            return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), spki[len(P256_HEAD) :])
        except ValueError:
            return None
    if algorithm == -8 and spki.startswith(ED25519_HEAD) and len(spki) == len(ED25519_HEAD) + 32:
        point = spki[len(ED25519_HEAD) :]
        return Ed25519PublicKey.from_public_bytes(point) if is_key(point) else None
    return None


def holds(key, signature, message):
    try:
        if isinstance(key, Ed25519PublicKey):
            if len(signature) != 64 or signature[:32] == b"\x01" + bytes(31):
                return False
            key.verify(signature, message)
            return True
        # One encoding: what DER leaves open is refused.
        if encode_dss_signature(*decode_dss_signature(signature)) != signature:
            return False
        key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
        return True
    except (InvalidSignature, ValueError):
        return False


def is_page_at(origin, host):
    if not isinstance(origin, str):
        return False
    match = re.fullmatch(r"(https?)://([^:/?#]*)(:[1-9][0-9]{0,4})?", origin)
    return bool(match) and match[2] == host and (match[1] == "https" or host == "localhost")


def is_signed(assertion, registration, rp_id, challenge, is_key):
    if not isinstance(assertion, dict) or set(assertion) != MEMBERS:
        return False
    credential = octets(assertion["credential"], 16, 1_023)
    data = octets(assertion["authenticator_data"], 37, 1_024)
    client = octets(assertion["client_data_json"], 2, 4_096)
    signature = octets(assertion["signature"], 8, 72)
    key = key_of(registration, is_key)
    if None in (credential, data, client, signature) or key is None:
        return False
    if assertion["credential"] != registration.get("credential"):
        return False
    try:
        said = json.loads(client.decode("utf-8"))
    except ValueError:
        return False
    if not isinstance(said, dict) or said.get("type") != "webauthn.get" or said.get("challenge") != challenge:
        return False
    if not is_page_at(said.get("origin"), rp_id) or said.get("crossOrigin", False) is not False or "topOrigin" in said:
        return False
    flags = data[32]
    if not flags & 0xC0 and len(data) != 37:
        return False
    if data[:32] != hashlib.sha256(rp_id.encode()).digest() or flags & 0x05 != 0x05:
        return False
    return holds(key, signature, data + hashlib.sha256(client).digest())


def decisions_in(approval):
    """Each decision of a person: member of the assertion, member of what was shown, person, time, decision, whether it counts."""
    found = []
    for index, one in enumerate(approval["countersigned"]):
        path = f"approval.countersigned.{index}."
        found.append((path + "assertion", path + "context", one["by"], one["at"], "approve", True, one.get("assertion")))
    by, status = approval["decided_by"], approval["status"]
    if by is not None and by["type"] == "user" and status in ("approved", "denied"):
        decision = "deny" if status == "denied" else "approve"
        found.append(
            (
                "approval.decided_by.assertion",
                "approval.context_digest",
                by["id"],
                approval["decided_at"],
                decision,
                status == "denied",
                by.get("assertion"),
            )
        )
    return found


class Signatures:
    """Checks assertions while the opened values pass in the order of their deeds."""

    def __init__(self, org, bodies, is_from_the_beginning, is_key):
        self.org, self.bodies, self.is_key = org, bodies, is_key
        self.is_from_the_beginning = is_from_the_beginning
        self.passkeys, self.shown, self.opened, self.signed = {}, {}, 0, 0
        # Which passkey a deed removes is sealed: it counts whether or not its data are given.
        self.removals = {}
        for seq, body in sorted(bodies.items()):
            if body["admin"] is not None and body["admin"]["action"] == "passkey.removed":
                self.removals.setdefault(body["admin"]["target"]["id"], (seq, body["issued_at"]))

    def take(self, seq, member, data, value):
        """False for an assertion that is wrong."""
        body = self.bodies[seq]
        change = body["admin"]["action"] if body["admin"] else None
        if change == "passkey.registered":
            if member == "admin.data_digest":
                self.learn(body["admin"]["target"]["id"], value)
            return True
        if body["approval"] is None or body["action"] is None:
            return True
        self.shown[(seq, member)] = "sha256:" + hashlib.sha256(data).hexdigest()
        for path, context, by, at, decision, counts, named in decisions_in(body["approval"]):
            if path == member and named is not None:
                return self.judge(seq, context, by, at, decision, counts, value)
        return True

    def learn(self, passkey, data):
        credential = data.get("credential") if isinstance(data, dict) else None
        if not isinstance(credential, str):
            return
        self.opened += 1
        number = data.get("alg")
        is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
        if is_number and all(isinstance(data.get(name), str) for name in ("public_key", "rp_id", "user")):
            self.passkeys[credential] = {"data": data, "passkey": passkey}

    def judge(self, seq, context, by, at, decision, counts, value):
        credential = value.get("credential") if isinstance(value, dict) else None
        if not isinstance(credential, str):
            return False
        known = self.passkeys.get(credential)
        if known is None:
            before = [
                body for at_seq, body in self.bodies.items() if at_seq < seq and body["admin"] is not None
            ]
            registered = sum(body["admin"]["action"] == "passkey.registered" for body in before)
            return not (self.is_from_the_beginning and self.opened == registered)
        data = known["data"]
        removed_seq, removed_at = self.removals.get(known["passkey"], (seq, at))
        if data.get("user") != by or (removed_seq < seq and removed_at < at):
            return False
        shown = self.shown.get((seq, context))
        if shown is None:
            return True
        body = self.bodies[seq]
        challenge = challenge_of(self.org, body["approval"]["id"], body["action"]["id"], shown, decision, by)
        if not is_signed(value, data, data["rp_id"], challenge, self.is_key):
            return False
        self.signed += counts
        return True

    def counts(self):
        decided = [
            (counts, named)
            for body in self.bodies.values()
            if body["approval"] is not None
            for _, _, _, _, _, counts, named in decisions_in(body["approval"])
            if counts
        ]
        asserted = sum(named is not None for _, named in decided)
        return {"signed": self.signed, "unsigned": len(decided) - asserted, "unchecked": asserted - self.signed}

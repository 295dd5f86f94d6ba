"""Answers questions about transparency logs with tlog.py: one JSON object a line in, one a line out.

A question is {"ask": name, ...}; bytes are base64. What tlog.py refuses is the answer {"refused": why}.
"""
import base64
import json
import sys

from tlog import (
    Refused,
    Witness,
    check_consistency,
    check_inclusion,
    check_proof,
    consistency_proof,
    inclusion_proof,
    is_key_name,
    is_met,
    key_from_vkey,
    open_note,
    parse_checkpoint_text,
    parse_policy,
    proof_bytes,
    range_root,
    sign_note,
    signature_line,
    signer_from_seed,
    to_base64,
    tree_root,
    vkey_of,
)

witnesses = {}


def refusal_of(action, *given):
    """None, or why it does not hold."""
    try:
        action(*given)
    except Refused as refused:
        return str(refused)
    return None


def octets(text):
    return base64.b64decode(text)


def all_octets(texts):
    return [octets(text) for text in texts]


def all_base64(items):
    return [to_base64(item) for item in items]


def signer_of(given):
    return signer_from_seed(given["name"], given["type"], octets(given["seed"]))


def signer_vkey(given):
    return vkey_of(signer_of(given).key)


def make_note(given):
    lines = [signature_line(signer_of(signer), given["text"], signer["at"]) for signer in given["signers"]]
    return to_base64(sign_note(given["text"], *lines))


def read_note(given):
    note, verified = open_note(octets(given["note"]), [key_from_vkey(vkey) for vkey in given["vkeys"]])
    return {"text": note.text, "verified": [[vkey_of(key), timestamp] for key, timestamp in verified]}


def read_notes(given):
    return [refusal_of(read_note, {"note": note, "vkeys": given["vkeys"]}) for note in given["notes"]]


def key_names(given):
    return [is_key_name(name) for name in given["names"]]


def vkeys(given):
    return [refusal_of(key_from_vkey, text) for text in given["texts"]]


def checkpoints(given):
    return [refusal_of(parse_checkpoint_text, text) for text in given["texts"]]


def roots(given):
    leaves = all_octets(given["leaves"])
    return all_base64(tree_root(leaves[:size]) for size in range(len(leaves) + 1))


def inclusion_proofs(given):
    leaves = all_octets(given["leaves"])
    return [all_base64(inclusion_proof(index, leaves[:size])) for index, size in given["of"]]


def consistency_proofs(given):
    leaves = all_octets(given["leaves"])
    return [all_base64(consistency_proof(old, leaves[:new])) for old, new in given["of"]]


def inclusions(given):
    """Of each claim, whether it holds."""
    return [
        refusal_of(
            check_inclusion, one["index"], one["size"], octets(one["leaf"]), octets(one["root"]), all_octets(one["proof"])
        )
        is None
        for one in given["claims"]
    ]


def consistencies(given):
    return [
        refusal_of(
            check_consistency,
            one["from"],
            one["to"],
            octets(one["from_root"]),
            octets(one["to_root"]),
            all_octets(one["proof"]),
        )
        is None
        for one in given["claims"]
    ]


def range_roots(given):
    """Of each range, the root or None."""

    def root_of(one):
        try:
            return to_base64(range_root(one["range"], all_octets(one["leaves"])))
        except Refused:
            return None

    return [root_of(one) for one in given["ranges"]]


def open_witness(given):
    logs = {}
    for key in map(key_from_vkey, given["logs"]):
        logs.setdefault(key.name, []).append(key)
    signers = [signer_of(signer) for signer in given["signers"]]
    witnesses[given["witness"]] = Witness(signers, logs, lambda: given["at"])


def add_checkpoint(given):
    return witnesses[given["witness"]].add_checkpoint(octets(given["request"]))._asdict()


def statuses(given):
    """Of each request, the status that a witness of its own gives, which has seen one checkpoint before."""
    key = key_from_vkey(given["log"])

    def status_of(request):
        witness = Witness([signer_of(given["signer"])], {key.name: [key]}, lambda: given["signer"]["at"])
        witness.add_checkpoint(octets(given["seen"]))
        return witness.add_checkpoint(octets(request)).status

    return [status_of(request) for request in given["requests"]]


def policies(given):
    return [refusal_of(parse_policy, octets(policy)) for policy in given["policies"]]


def quorums(given):
    """Of each policy and names that cosigned, whether the quorum is met."""

    def word_of(one):
        policy = parse_policy(octets(one["policy"]))
        return is_met(policy, policy.quorum, {name.encode() for name in one["cosigned"]})

    return [word_of(one) for one in given["cases"]]


def proof(given):
    note = octets(given["note"])
    return to_base64(proof_bytes(given["index"], all_octets(given["path"]), note, octets(given["extra"])))


def proofs(given):
    """Of each proof, what it shows or that it is refused."""
    return [proof_verdict(one) for one in given["cases"]]


def proof_verdict(given):
    try:
        policy = parse_policy(octets(given["policy"]))
        shown, checkpoint, cosigned = check_proof(octets(given["proof"]), octets(given["leaf"]), policy)
    except Refused:
        return {"result": "refused"}
    return {
        "result": "included",
        "index": shown.index,
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "witnesses": [name.decode() for name in policy.witnesses if name in cosigned],
    }


QUESTIONS = [
    signer_vkey, make_note, read_note, read_notes, key_names, vkeys, checkpoints, roots, inclusion_proofs,
    consistency_proofs, inclusions, consistencies, range_roots, open_witness, add_checkpoint, statuses, policies, quorums, proof,
    proofs,
]  # fmt: skip
ASKED = {question.__name__: question for question in QUESTIONS}

for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = {"answer": ASKED[question["ask"]](question)}
    except Refused as refused:
        answer = {"refused": str(refused)}
    print(json.dumps(answer), flush=True)

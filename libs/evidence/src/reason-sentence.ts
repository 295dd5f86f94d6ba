import type { VerdictReason } from '#libs/crypto';

/** What a reason of a verdict means, and what to do next. */
export const reasonSentence = (reason: VerdictReason): string => REASONS[reason];

/** Closed: a reason without a sentence does not compile. */
const REASONS: Record<VerdictReason, string> = {
  truncated: 'The file ends early. Fetch the bundle again.',
  bad_gzip:
    'The file is not one whole gzip member: bytes in it were changed, or stand behind its end. Take the file that the ' +
    'export answered, unchanged.',
  bad_tar:
    'A bundle that was unpacked and packed again is none, although its files are the same. Take the file that the export ' +
    'answered, unchanged.',
  bad_manifest: 'manifest.json is not what a bundle holds.',
  bad_keys: 'keys.json is not what a bundle holds, or does not match the manifest; or a pinned key is none to trust.',
  key_conflict: 'The key set given has another public key than the bundle under the same kid. One of them is forged.',
  bad_line: 'The line of this deed is not of the form that deeds have.',
  wrong_org: 'It belongs to another organization than the one you named.',
  gap: 'A deed is missing here.',
  duplicate: 'A deed stands here that was there before.',
  extra_deed: 'There are more deeds than the manifest says.',
  body_hash_mismatch: 'The deed was changed: its bytes do not have the hash that it carries.',
  not_canonical: 'The body of the deed is not in canonical form.',
  schema: 'The body of the deed is not of the shape that deeds have.',
  wrong_seq: 'The seq inside the deed is not the one of its place.',
  wrong_kid: 'The deed names another seal key inside than outside.',
  unknown_key:
    'The deed is sealed by a key that the key set does not list. Fetch the key set anew, with Cache-Control: no-cache.',
  key_not_pinned:
    'The deed is sealed by a key that you did not pin. If the key was rotated, get the new fingerprint, not from the bundle, and give both.',
  bad_signature: 'The seal does not hold: the signature is not of this deed by this key.',
  seal_key_revoked: 'The deed is sealed by a key that was revoked.',
  outside_key_window: 'The deed was issued when its seal key was not active.',
  broken_link: 'The deed does not link to the one before it.',
  time_went_back: 'The deed says it was issued before the one before it.',
  outside_range: 'The deed was issued outside of the range that the bundle is of.',
  head_mismatch: 'The chain does not hold the deed that was noted elsewhere, or that the manifest names.',
  missing_deeds: 'The bundle promises more deeds than it holds.',
  front_missing: 'The first deeds of the chain are missing. Ask for an export without from.',
  tail_missing: 'The chain goes on after the last deed in the bundle. Ask for a newer export.',
  no_deeds: 'The bundle holds no deeds.',
  bad_checkpoint:
    'checkpoint.txt is no checkpoint of these deeds: it, or range.json beside it, is not what a bundle holds, the tree is ' +
    'smaller than the range, or a signature of the log does not hold.',
  wrong_origin:
    'The checkpoint is of another log than your checkpoint keys name: of another organization or service; or the operator ' +
    'accepted a break, and the origin now ends in a number. Look for the deed ledger.broken, and ask why.',
  checkpoint_not_signed:
    'None of the checkpoint keys that you trust signed the checkpoint. If the key was rotated, ask for the new one, not by way of the bundle.',
  root_mismatch:
    'The deeds are not those of the checkpoint: they do not lead to its root. Somebody was shown another chain.',
  bad_cosignature: 'A cosignature of a witness that you named does not hold.',
  not_witnessed:
    'The deeds are not witnessed as you ask: there is no checkpoint (export again with format=service.bundle/2 or with evidence), or too few of your witnesses cosigned it.',
  bad_assertion:
    'What a device is said to have signed is not of this person, this decision and what was shown, or not by a passkey that ' +
    'the person had then. Somebody made the approval up.',
  bad_intent:
    'What an agent is said to have signed is not of this call, or not signed by a key that the agent had then. Somebody made the ' +
    'call up, or changed it.',
  bad_evidence: 'payloads.ndjson gives something that is not what the deed stands for.',
};

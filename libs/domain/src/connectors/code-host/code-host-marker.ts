/**
 * The host knows no idempotency keys and keeps no members of ours. So each text that is written ends in a comment that
 * nobody sees, and each commit in a trailer: by them an action is found again.
 */
const MARKER = /<!--\s*act_/i;
const TRAILER = /^service-action-id:/im;

export const markerOf = (action: string): string => `<!-- ${action} -->`;

/** A text as it is sent. */
export const markedText = (text: string, action: string | null): string => {
  if (action === null) return text;
  return text === '' ? markerOf(action) : `${text}\n\n${markerOf(action)}`;
};

/** What a commit says. A trailer, because comments are for Markdown alone. */
export const markedMessage = (message: string, action: string | null): string =>
  action === null ? message : `${message}\n\nService-Action-Id: ${action}`;

/** Whether a text would be taken for another action's. */
export const holdsMarker = (text: string): boolean => {
  const plain = text.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return MARKER.test(plain) || TRAILER.test(plain);
};

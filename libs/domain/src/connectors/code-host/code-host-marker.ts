import { withoutOpenFence } from './code-fence.js';

/**
 * The host knows no idempotency keys and keeps no members of ours. So each text that is written ends in a comment that
 * nobody sees, and each commit in a trailer: by them an action is found again.
 */
const MARKER = /<!--\s*act_/i;
const TRAILER = /^service-action-id:/im;

export const markerOf = (action: string): string => `<!-- ${action} -->`;

/** As `markedText` puts it, with the line ends that the host may have made of them. */
const LAST = /(?:^|\r?\n[\t ]*\r?\n)<!-- act_[0-9a-z]+ -->\s*$/;

/** A text as its author wrote it: one that was read from the host and is sent back has the mark of an earlier action. */
export const withoutLastMark = (text: string): string => text.replace(LAST, '');

/** A text as it is sent. */
export const markedText = (given: string, action: string | null): string => {
  const text = withoutLastMark(given);
  if (action === null) return text;
  // In a block of code it would be shown.
  return text === '' ? markerOf(action) : `${withoutOpenFence(text)}\n\n${markerOf(action)}`;
};

/** What a commit says. A trailer, because comments are for Markdown alone. */
export const markedMessage = (message: string, action: string | null): string =>
  action === null ? message : `${message}\n\nService-Action-Id: ${action}`;

/** Whether a text would be taken for another action's. */
export const holdsMarker = (text: string): boolean => {
  const plain = text.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return MARKER.test(plain) || TRAILER.test(plain);
};

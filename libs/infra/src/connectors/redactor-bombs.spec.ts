import { describe, expect, it } from 'vitest';

import { Redactor } from './redactor.js';
import { REDACTION_BOMBS } from './testing/redaction-bombs.js';

/**
 * A hang is red: each ends in a fraction of a second, and a search that looks at every secret from every place of the
 * answer takes half a minute and more. How long the longest holds the event loop is a figure of `npm run bench`.
 */
const HANG_MS = 15_000;

describe('redaction never hangs, whoever chose the secrets and the answer (rule REST-13)', () => {
  it.each(REDACTION_BOMBS)(
    '$name',
    ({ sensitive, answer, redacted }) => {
      // Compared as texts: a difference of a million characters is nothing to print.
      expect(JSON.stringify(new Redactor([], sensitive).json(answer)) === JSON.stringify(redacted)).toBe(true);
    },
    HANG_MS,
  );
});

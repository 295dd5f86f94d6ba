const WORDS: Readonly<Record<string, string>> = {
  livemode_detected: 'an answer was about real money, and it works in the sandbox alone (livemode_detected)',
  live_key_stored: 'the stored key is none of the sandbox, and nothing was sent with it (live_key_stored)',
};

/** Why the service disabled a connector by itself, as the end of a sentence; a reason of a later version as it is. */
export const whyDisabled = (reason: string): string => WORDS[reason] ?? reason;

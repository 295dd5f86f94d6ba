/** Limits of sessions and of signing in (rules PEOPLE-6 and PEOPLE-8). Milliseconds unless the name says otherwise. */
export const SESSION_IDLE_MS = 12 * 60 * 60 * 1000;
export const SESSION_ABSOLUTE_MS = 7 * 24 * 60 * 60 * 1000;
/** How long a browser is told why its session ended. */
export const SESSION_END_TOLD_MS = 24 * 60 * 60 * 1000;
/** How often a session's row is written while it is used. */
export const SESSION_TOUCH_MS = 5 * 60 * 1000;
export const SIGN_IN_MS = 15 * 60 * 1000;
export const INVITATION_MS = 7 * 24 * 60 * 60 * 1000;
export const CODE_ATTEMPTS_MAX = 5;
export const CODE_DIGITS = 6;
/** Sign-in mails to one address in an hour that one site may ask for; for more requests none is sent. */
export const MAILS_PER_HOUR = 5;
/** So many to one address in an hour, of all sites together: then a site that had none in that hour gets one, and no site more. */
export const MAILS_OF_ALL_SITES = 10;
/** So many to one address in an hour: then only sites get one where the person is signed in. */
export const MAILS_OF_STRANGERS = 20;
/** Invitations that are mailed to one address in an hour, by all organizations together. */
export const INVITATIONS_PER_ADDRESS = 5;
/** Invitations that an organization mails in an hour. */
export const INVITATIONS_PER_ORG = 20;
/** Wrong codes in the deployment within {@link MISSES_WINDOW_MS}, after which none is accepted for {@link MISSES_PAUSE_MS}. */
export const MISSES_MAX = 30;
/** Of them, those of one site: an IPv4 address, or a /48 of IPv6. */
export const MISSES_PER_SITE = 5;
export const MISSES_WINDOW_MS = 5 * 60 * 1000;
export const MISSES_PAUSE_MS = 15 * 60 * 1000;
/** What a passkey is to sign is good for so long. */
export const PASSKEY_CHALLENGE_MS = 5 * 60 * 1000;
/** Only who signed in so lately registers a passkey: a session that somebody left open makes no lasting way in. */
export const RECENT_SIGN_IN_MS = 10 * 60 * 1000;

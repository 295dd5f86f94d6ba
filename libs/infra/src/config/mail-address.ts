import { readMailAddress } from '#libs/domain/people';

declare const isJudged: unique symbol;

/** One plain address that was judged: only {@link requireMailAddress} makes one, and only such a one is ever sent to. */
export type MailAddress = string & { readonly [isJudged]: true };

/** The text is no plain address. The message says what one is, to follow 'must ...', and never quotes it. */
export class InvalidMailAddress extends Error {
  override readonly name = 'InvalidMailAddress';
  constructor() {
    super('must be one plain e-mail address, such as name@example.com');
  }
}

/**
 * The address as it may stand in an envelope, its domain in ASCII. Judged before a mail library sees it, because such a
 * library reads lists, names, comments and line breaks into what was meant as one address, and sends to all it finds.
 *
 * @throws {InvalidMailAddress}
 */
export const requireMailAddress = (text: string): MailAddress => {
  const address = readMailAddress(text);
  if (address === null) throw new InvalidMailAddress();
  return address.spelling as MailAddress;
};

/** Who mails are from: an address, and the name that is shown for it, or none. */
export interface MailSender {
  readonly name: string | null;
  readonly address: MailAddress;
}

/** Letters, digits, spaces and what names hold; no quote, bracket, comma or control character. */
const SENDER_NAME = /^[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N} .&'()-]{0,68}[\p{L}\p{M}\p{N}.)])?$/u;

/**
 * Reads `name@example.com` or `Some Name <name@example.com>`.
 *
 * @throws {InvalidMailAddress}
 */
export const parseMailSender = (text: string): MailSender => {
  const [, name, bracketed] = /^([^<>]*[^<>\s])\s*<([^<>]+)>$/.exec(text) ?? [];
  if (name === undefined || bracketed === undefined) return { name: null, address: requireMailAddress(text) };
  if (!SENDER_NAME.test(name)) throw new InvalidMailAddress();
  return { name, address: requireMailAddress(bracketed) };
};

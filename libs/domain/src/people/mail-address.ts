import { domainToASCII } from 'node:url';
import { DomainError } from '../kernel/index.js';

/** An address that was judged: exactly one, at a domain, without anything a mail header could be broken with. */
export interface MailAddress {
  /** What addresses are compared by: lower case, the domain in ASCII. No dots or tags are folded. */
  readonly normal: string;
  /** As it was typed, where mail goes. */
  readonly spelling: string;
}

/** RFC 5321, section 4.5.3.1. */
const ADDRESS_MAX_BYTES = 254;
const LOCAL_MAX = 64;

/** RFC 5322, section 3.2.3: a dot-atom of ASCII. Quoted local parts have been read in more than one way. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Letters of any script, digits, hyphens and dots: what the domain may be written with before it is made ASCII. */
const WRITTEN_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
/** RFC 1123, section 2.1: two or more labels; the last begins with a letter, so no address of a machine is one. */
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Null for anything but one plain address (docs/sign-in.md, Addresses). */
export const readMailAddress = (text: string): MailAddress | null => {
  const at = text.indexOf('@');
  const [local, written] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || local.length > LOCAL_MAX || !LOCAL.test(local) || !WRITTEN_DOMAIN.test(written)) return null;
  const domain = domainToASCII(written).toLowerCase();
  const spelling = `${local}@${domain}`;
  if (!DOMAIN.test(domain) || Buffer.byteLength(spelling) > ADDRESS_MAX_BYTES) return null;
  return { normal: spelling.toLowerCase(), spelling };
};

/** @throws {DomainError} validation_failed, naming the field */
export const requireMailAddress = (text: string): MailAddress => {
  const address = readMailAddress(text);
  if (address !== null) return address;
  throw new DomainError('validation_failed', {
    param: 'email',
    message: 'The field email must be one plain address such as jane@example.com.',
  });
};

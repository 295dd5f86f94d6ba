import { parseRange } from './address-class.js';

/** One entry of the allow-list (SERVICE_EGRESS_ALLOW). */
export interface AllowEntry {
  readonly range: ReturnType<typeof parseRange>;
  /** Lower case; begins with a dot when it covers all names below. Null for a range. */
  readonly name: string | null;
  readonly port: number | null;
}

/** An allow-list entry that is neither a host nor a range. */
export class InvalidAllowEntry extends Error {
  override readonly name = 'InvalidAllowEntry';
  constructor(entry: string) {
    super(
      `${entry} is neither a host nor an address range; write crm.corp, crm.corp:8443, 10.1.0.0/16 or [fd00::1]:8443`,
    );
  }
}

/** `Example.COM.` and `[::1]` as they compare. */
export const bareName = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

const ENTRY = /^(?:\[([0-9a-fA-F:.]+)\]|([^[\]:]+))(?::(\d{1,5}))?$/;
const HOST = /^(?:\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
/** What a URL takes for an address, or for nothing: `10.1` is 10.0.0.1 there. A name that ends so would never match, or an address. */
const NUMERIC_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** @throws {InvalidAllowEntry} */
export const parseAllowEntry = (text: string): AllowEntry => {
  const whole = parseRange(text);
  if (whole !== null) return { range: whole, name: null, port: null };
  const [, bracketed, plain, portText] = ENTRY.exec(text) ?? [];
  const port = portText === undefined ? null : Number(portText);
  const host = bareName(bracketed ?? plain ?? '');
  if (port !== null && (port < 1 || port > 65_535)) throw new InvalidAllowEntry(text);
  const range = parseRange(host);
  if (range !== null) return { range, name: null, port };
  if (!HOST.test(host) || NUMERIC_END.test(host)) throw new InvalidAllowEntry(text);
  return { range: null, name: host.startsWith('*.') ? host.slice(1) : host, port };
};

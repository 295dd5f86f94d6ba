import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';

import { InvalidAllowEntry } from './allow-entry.js';
import { DestinationRules, type EgressSettings, endpointOf, publicEndpointOf } from './destination-rules.js';

const rules = (settings: Partial<EgressSettings> = {}) =>
  new DestinationRules({ allowPrivate: false, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings });
const PUBLIC = ['93.184.216.34'];

/** Written down from where each is kept out of the public DNS, or is commonly used as if it were. */
const INNER_SUFFIXES = [
  ['localhost', 'RFC 6761'],
  ['test', 'RFC 6761'],
  ['invalid', 'RFC 6761'],
  ['local', 'RFC 6762'],
  ['intranet', 'RFC 6762, appendix G'],
  ['internal', 'RFC 6762, appendix G; ICANN board, 2024-07-29'],
  ['private', 'RFC 6762, appendix G'],
  ['corp', 'RFC 6762, appendix G; ICANN board, 2018-02-04'],
  ['home', 'RFC 6762, appendix G; ICANN board, 2018-02-04'],
  ['lan', 'RFC 6762, appendix G'],
  ['onion', 'RFC 7686'],
  ['home.arpa', 'RFC 8375'],
  ['localdomain', 'of /etc/hosts in many systems'],
  ['svc', 'of services in a Kubernetes cluster'],
] as const;

/** From the documentation of Google Compute Engine, Amazon EC2 and Tencent Cloud. */
const METADATA_NAMES = ['metadata.google.internal', 'instance-data.ec2.internal', 'metadata.tencentyun.com'];

describe('destinations in production', () => {
  it('a public name with public addresses is allowed', () =>
    expect(rules().areAllowed('api.example.com', 443, ['93.184.216.34', '2606:4700::1111'])).toBe(true));

  it.each([
    'localhost',
    'localhost.',
    'LOCALHOST',
    'a.localhost',
    'metadata.google.internal',
    'db.internal',
    'printer.local',
    'kubernetes.default.svc',
    'redis',
    'host.docker.internal',
    'router.lan',
    'x.home.arpa',
  ])('the name %s is refused whatever it resolves to (rule EGRESS-3)', (name) => {
    expect(rules().areAllowed(name, 443, PUBLIC)).toBe(false);
    expect(rules().couldBeAllowed(name, 443)).toBe(false);
  });

  it.each(INNER_SUFFIXES)('names of %s are refused whatever they resolve to, %s (rule EGRESS-3)', (suffix) => {
    for (const name of [suffix, `db.${suffix}`, `a.b.${suffix}`, `DB.${suffix.toUpperCase()}.`]) {
      expect([name, rules().areAllowed(name, 443, PUBLIC)]).toEqual([name, false]);
      expect([name, rules().couldBeAllowed(name, 443)]).toEqual([name, false]);
    }
    for (const name of [`db.x${suffix}`, `db.${suffix}.example.com`, `${suffix}.example.com`]) {
      expect([name, rules().areAllowed(name, 443, PUBLIC)]).toEqual([name, true]);
    }
  });

  it('one bad answer of many blocks the name (rule EGRESS-1)', () =>
    expect(rules().areAllowed('api.example.com', 443, [...Array<string>(49).fill('93.184.216.34'), '10.0.0.1'])).toBe(
      false,
    ));

  it('no answer is no permission', () => expect(rules().areAllowed('api.example.com', 443, [])).toBe(false));

  it('a text that is no address is no permission', () =>
    expect(rules().areAllowed('api.example.com', 443, ['not an address'])).toBe(false));

  it.each([22, 25, 80, 5_432, 6_379, 2_113, 8_080, 0, 65_535])('port %i is refused (rule EGRESS-5)', (port) =>
    expect(rules().areAllowed('api.example.com', port, PUBLIC)).toBe(false),
  );
});

/** Of its network; loopback is judged by itself. */
const OWN_ADDRESSES = Object.values(networkInterfaces()).flatMap((entries) =>
  (entries ?? []).filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
);
const LIKE_ADDRESSES = ['10.1', '127.1:8443', '2130706433', '256.1.1.1', '127.0.0.01', '0x7f.1', '*.0.1', 'crm.0x7f'];

describe('the allow-list of an operator', () => {
  it.each<[string, string, number, string, boolean]>([
    ['10.1.0.0/16', 'crm.internal', 8_080, '10.1.2.3', true],
    ['10.1.0.0/16', 'crm.internal', 8_080, '10.2.2.3', false],
    ['10.1.0.0/16', 'crm.internal', 8_080, '::ffff:10.1.2.3', true],
    ['10.1.2.3', '10.1.2.3', 80, '10.1.2.3', true],
    ['fd00:1::/32', 'x.corp', 443, 'fd00:1::5', true],
    ['crm.corp', 'crm.corp', 8_443, '10.9.9.9', true],
    ['CRM.corp', 'crm.CORP.', 8_443, '10.9.9.9', true],
    ['crm.corp', 'evil-crm.corp', 443, '10.9.9.9', false],
    ['*.corp', 'crm.corp', 443, '10.9.9.9', true],
    ['*.corp', 'corp', 443, '10.9.9.9', false],
    ['crm.corp:8443', 'crm.corp', 8_443, '10.9.9.9', true],
    ['crm.corp:8443', 'crm.corp', 443, '10.9.9.9', false],
    ['10.1.2.3:8443', '10.1.2.3', 8_443, '10.1.2.3', true],
    ['[fd00::1]:8443', '[fd00::1]', 8_443, 'fd00::1', true],
    ['api.example.com:8443', 'api.example.com', 8_443, '93.184.216.34', true],
    // Whoever answers for a listed name chooses among hosts of the network, no further (rule EGRESS-4).
    ['api.example.com', 'api.example.com', 443, '127.0.0.1', false],
    ['api.example.com', 'api.example.com', 443, '::1', false],
    ['api.example.com', 'api.example.com', 443, '::ffff:127.0.0.1', false],
    ['*.partner.example', 'x.partner.example', 443, '169.254.169.254', false],
    ['*.partner.example', 'x.partner.example', 443, 'fe80::1', false],
    ['*.partner.example', 'x.partner.example', 443, 'fd00:ec2::254', false],
    ['*.partner.example', 'x.partner.example', 443, '0.0.0.0', false],
    ['*.internal', 'metadata.google.internal', 80, '10.0.0.1', false],
    ['localhost:9000', 'localhost', 9_000, '127.0.0.1', true],
    ['localhost:9000', 'localhost', 9_001, '127.0.0.1', false],
    ['127.0.0.1:9000', 'api.example.com', 9_000, '127.0.0.1', true],
    ['169.254.0.0/16', 'metadata.google.internal', 80, '169.254.169.254', true],
  ])('%s: %s port %i at %s is %s', (entry, host, port, address, expected) =>
    expect(rules({ allow: [entry] }).areAllowed(host, port, [address])).toBe(expected),
  );

  it.skipIf(OWN_ADDRESSES.length === 0)(
    'a listed name opens no address of this machine, which an entry of its own does',
    () => {
      for (const address of OWN_ADDRESSES) {
        const areAllowed = (entry: string) => rules({ allow: [entry] }).areAllowed('api.example.com', 5_432, [address]);
        expect([areAllowed('api.example.com'), areAllowed(address)]).toEqual([false, true]);
        if (!address.includes(':')) continue;
        expect(rules({ allow: ['api.example.com'] }).areAllowed('api.example.com', 5_432, [`${address}%eth0`])).toBe(
          false,
        );
      }
    },
  );

  it.each(METADATA_NAMES)('the metadata name %s is opened by no name, only by an address (rule EGRESS-4)', (name) => {
    const areAllowed = (entry: string, address: string) => rules({ allow: [entry] }).areAllowed(name, 443, [address]);
    for (const entry of [name, `*.${name.slice(name.indexOf('.') + 1)}`]) {
      expect([entry, areAllowed(entry, '10.0.0.1'), areAllowed(entry, '93.184.216.34')]).toEqual([entry, false, false]);
    }
    expect(rules().areAllowed(name, 443, PUBLIC)).toBe(false);
    expect(rules().couldBeAllowed(name, 443)).toBe(false);
    expect(areAllowed('10.0.0.1', '10.0.0.1')).toBe(true);
  });

  it('a range does not open the other answers of a name', () =>
    expect(rules({ allow: ['10.1.0.0/16'] }).areAllowed('crm.corp', 443, ['10.1.2.3', '127.0.0.1'])).toBe(false));

  it.each(['http://x', 'a b', '10.0.0.0/33', '*', 'x:0', 'x:70000', '*.*.com', '[::1', '-x', ...LIKE_ADDRESSES])(
    'the entry %j is refused',
    (entry) => expect(() => rules({ allow: [entry] })).toThrow(InvalidAllowEntry),
  );
});

describe('destinations in development', () => {
  const dev = rules({ allowPrivate: true });

  it.each(['127.0.0.1', '10.0.0.1', '192.168.1.1', '::1', 'fd00::1'])('%s is allowed on any port', (address) =>
    expect(dev.areAllowed('localhost', 3_000, [address])).toBe(true),
  );

  it.each([
    ...['169.254.169.254', '0.0.0.0', '224.0.0.1', 'fe80::1', '168.63.129.16'],
    ...['fd00:ec2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42', 'fd00:100::100:200', 'fd00:a9fe:a9fe::1'],
  ])('%s stays refused', (address) => expect(dev.areAllowed('x', 80, [address])).toBe(false));

  it.each(METADATA_NAMES)('the metadata name %s stays refused, whatever it resolves to (rule EGRESS-4)', (name) => {
    for (const address of ['10.0.0.1', '127.0.0.1', ...PUBLIC]) {
      for (const written of [name, `${name.toUpperCase()}.`])
        expect(dev.areAllowed(written, 80, [address])).toBe(false);
      expect(dev.areAllowed(`x${name}`, 80, [address])).toBe(true);
    }
  });
});

describe('the service itself is never a destination (rule EGRESS-6)', () => {
  const own = (host: string, port: number) =>
    rules({
      allowPrivate: true,
      allowPlainText: true,
      allow: ['127.0.0.0/8', 'svc.example.com'],
      ownEndpoints: () => [{ host, port }],
    });

  it('not by its own name, whatever that resolves to', () =>
    expect(own('svc.example.com', 443).areAllowed('SVC.example.com.', 443, PUBLIC)).toBe(false));

  it('not by another name of this machine', () =>
    expect(own('svc.example.com', 8_080).areAllowed('localhost', 8_080, ['127.0.0.1'])).toBe(false));

  it('not by another spelling of its address', () =>
    expect(own('203.0.113.5', 443).areAllowed('[::ffff:203.0.113.5]', 443, ['::ffff:203.0.113.5'])).toBe(false));

  it('not by another name of where it is, on another machine', () => {
    const elsewhere = own('db.corp', 5_432);
    expect(elsewhere.ownHostsAt(5_432)).toEqual(['db.corp']);
    expect(elsewhere.leadElsewhere(['10.0.0.6', '10.0.0.5'], ['10.0.0.5'])).toBe(false);
    expect(elsewhere.leadElsewhere(['::ffff:10.0.0.5'], ['10.0.0.5'])).toBe(false);
    expect(elsewhere.leadElsewhere(['64:ff9b::a00:5'], ['10.0.0.5'])).toBe(false);
    expect(elsewhere.leadElsewhere(['10.0.0.6'], ['10.0.0.5'])).toBe(true);
    expect(elsewhere.ownHostsAt(5_433)).toEqual([]);
  });

  it('where a load balancer serves others too, by its own name alone', () => {
    const { isShared, ...endpoint } = publicEndpointOf('https://svc.example.com');
    expect([isShared, endpoint]).toEqual([true, endpointOf('https://svc.example.com')]);
    const shared = rules({ ownEndpoints: () => [publicEndpointOf('https://svc.example.com')] });
    expect(shared.ownHostsAt(443)).toEqual([]);
    expect(shared.areAllowed('svc.example.com', 443, PUBLIC)).toBe(false);
    expect(shared.areAllowed('neighbour.example.com', 443, PUBLIC)).toBe(true);
  });

  it.each([
    ['https://svc.example.com', 'svc.example.com', 443],
    ['http://svc.example.com', 'svc.example.com', 80],
    ['https://svc.example.com:8443/base', 'svc.example.com', 8_443],
    ['http://[::1]:8080', '[::1]', 8_080],
    ['redis://cache.internal/2', 'cache.internal', 6_379],
    ['rediss://user:secret@cache.internal:6380', 'cache.internal', 6_380],
  ])('%s is one of its own', (url, host, port) => expect(endpointOf(url)).toEqual({ host, port }));

  it('another port of this machine is another service', () =>
    expect(own('127.0.0.1', 8_080).areAllowed('localhost', 8_081, ['127.0.0.1'])).toBe(true));
});

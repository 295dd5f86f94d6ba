/** Addresses that nothing of ours may reach (rules EGRESS-2 and EGRESS-4), and the ways to write them. */

/** First, a middle and the last address of every range of IPv4. */
const V4_RANGES: readonly string[] = [
  '0.0.0.0 0.1.2.3 0.255.255.255',
  '10.0.0.0 10.1.2.3 10.255.255.255',
  '100.64.0.0 100.100.100.200 100.127.255.255',
  '127.0.0.0 127.0.0.1 127.255.255.255',
  '169.254.0.0 169.254.169.254 169.254.255.255',
  '172.16.0.0 172.20.1.1 172.31.255.255',
  '192.0.0.0 192.0.0.192 192.0.0.255',
  '192.0.2.0 192.0.2.7 192.0.2.255',
  '192.168.0.0 192.168.1.1 192.168.255.255',
  '198.18.0.0 198.19.0.1 198.19.255.255',
  '198.51.100.0 198.51.100.9 198.51.100.255',
  '203.0.113.0 203.0.113.5 203.0.113.255',
  '224.0.0.0 239.1.1.1 239.255.255.255',
  '240.0.0.0 250.1.1.1 255.255.255.255',
];
/** The same of IPv6, without those that hold an IPv4 address. */
const V6: readonly string[] = [
  ':: ::1 fc00::1 fdff:ffff::1 fe80::1 febf::1 ff00::1 ff02::1 2001:db8::1 fec0::1 100::1 fd00:ec2::254 fd20:ce::254',
  '2001::1 2001:2::1 2001:10::1 2001:20::1 3fff::1 5f00::1',
];
/** Metadata services of clouds. */
export const METADATA_V4 =
  '169.254.169.254 169.254.170.2 169.254.169.253 169.254.0.23 100.100.100.200 168.63.129.16 192.0.0.192';

const words = (lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));

/** What `::ffff:0:0/96` and the forms beside it make of an IPv4 address. */
export const insideV6 = (v4: string): readonly string[] => {
  const bytes = v4.split('.').map(Number);
  const hex = [0, 2].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16)).join(':');
  const inverted = [0, 2]
    .map((at) => ((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) ^ 0xffff).toString(16))
    .join(':');
  return [
    `::ffff:${v4}`,
    `::ffff:${hex}`,
    `::${v4}`,
    `::ffff:0:${v4}`,
    `64:ff9b::${v4}`,
    `64:ff9b:1::${v4}`,
    `2002:${hex}::1`,
    `2001:0:4136:e378:8000:63bf:${inverted}`,
    `fe80::5efe:${v4}`,
    `2001:470:1f0b:1::5efe:${v4}`,
    `2001:470:1f0b:1:200:5efe:${v4}`,
  ];
};

/** Ways to write an IPv4 address in a URL that Node's parser takes for it. */
export const spellingsOf = (v4: string): readonly string[] => {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number);
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const [hex, octal] = [(value: number) => `0x${value.toString(16)}`, (value: number) => `0${value.toString(8)}`];
  const wide = (text: string, zero: number) =>
    text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  return [
    v4,
    `${v4}.`,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase().replace('X', 'x'),
    octal(whole),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${hex(a)}.${(b * 256 + c) * 256 + d}`,
    `${octal(a)}.${b}.${c * 256 + d}`,
    [a, b, c, d].map(hex).join('.'),
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map((part) => `000${part.toString(8)}`).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${hex(d)}`,
    v4.replaceAll('.', '。'),
    v4.replaceAll('.', '．'),
    v4.replaceAll('.', '｡'),
    v4.replaceAll('.', '%2e'),
    wide(v4, 0xff10),
    wide(v4, 0x1d7ce),
    wide(v4, 0x1d7f6),
    [...v4]
      .map((sign) => (/[1-9]/.test(sign) ? String.fromCodePoint(0x245f + Number(sign)) : sign === '0' ? '⓪' : sign))
      .join(''),
    [...v4].map((sign) => `%${(sign.codePointAt(0) ?? 0).toString(16)}`).join(''),
  ];
};

const V4 = [...new Set([...words(V4_RANGES), ...METADATA_V4.split(' ')])];
/** Of those, some for the tests that write each in every way. */
export const SPELLED = [
  '127.0.0.1',
  '169.254.169.254',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '0.0.0.0',
];
/** Everything that nobody may be led to, outside of a development service. */
export const ADDRESSES = [...V4, ...words(V6), ...SPELLED.flatMap(insideV6)];

/** JSON objects of about `bytes` bytes, in canonical form, that are dear to read and to write, by what they are made of. */
export const dearObjects = (bytes: number): readonly (readonly [string, Buffer])[] => {
  const list = (item: string): string => `{"a":[${`${item},`.repeat(bytes / (item.length + 1) - 8)}${item}]}`;
  const members = (value: (index: number) => string, of: number): string =>
    `{${Array.from({ length: bytes / of - 1 }, (_, index) => `"${String(index).padStart(7, '0')}":${value(index)}`).join()}}`;
  const texts: readonly (readonly [string, string])[] = [
    ['numbers', list('7')],
    ['long numbers', list('1.2345678901234567')],
    ['lists in lists', list('[[]]')],
    ['objects', list('{"a":1}')],
    ['short texts', list('"a"')],
    ['members', members(() => '1', 12)],
    ['objects in members', members((index) => `{"${index}":0}`, 22)],
    ['one long key', `{"${'k'.repeat(bytes - 10)}":1}`],
    ['one long text', `{"a":"${'k'.repeat(bytes - 10)}"}`],
    ['escapes', `{"a":"${'\\u0001'.repeat(bytes / 6 - 2)}"}`],
  ];
  return texts.map(([name, text]) => [name, Buffer.from(text)]);
};

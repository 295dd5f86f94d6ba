import { describe, expect, it } from 'vitest';

import { partsOfTable, qualifiedName } from './table-name.js';

describe('the one spelling of a table', () => {
  it.each([
    [['public', 'orders'], 'public.orders'],
    [['public', 'Orders'], 'public.Orders'],
    [['a.b', 'c'], '"a.b".c'],
    [['a', 'b.c'], 'a."b.c"'],
    [['we"ird', ' x'], '"we""ird"." x"'],
    [['größe', 'naïve'], 'größe.naïve'],
    [['1a', ''], '"1a".""'],
  ])('%j is %s, and back', (parts, spelling) => {
    expect(qualifiedName(parts)).toBe(spelling);
    expect(partsOfTable(spelling)).toEqual({ schema: parts[0], table: parts[1] });
  });

  it.each(['orders', '', 'a.b.c', '"a.b', 'a."b"c', '.b'])('%j names no table with its schema', (text) => {
    expect(partsOfTable(text)).toBeNull();
  });
});

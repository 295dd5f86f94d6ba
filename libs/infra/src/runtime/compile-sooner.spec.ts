import { describe, expect, it } from 'vitest';
import { compileSooner } from './compile-sooner.js';

const flagsOn = (version: string): readonly string[] => {
  const flags: string[] = [];
  compileSooner(version, (flag) => flags.push(flag));
  return flags;
};

describe('V8 is told to compile sooner', () => {
  it('if it knows the flag', () => expect(flagsOn('11.3.244.8-node.38')).toEqual(['--interrupt-budget=15000']));

  it.each(['12.4.254.21-node.33', '13.6.233.10-node.28'])('and otherwise not: %s', (version) =>
    expect(flagsOn(version)).toEqual([]),
  );
});

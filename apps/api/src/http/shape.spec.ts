import type { JsonObject } from '#libs/crypto';
import { DomainError } from '#libs/domain/kernel';
import { IsBoolean, IsInt, IsObject, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { IfPresent, judgeShape, Nested, takeShape } from './shape.js';

class Arg {
  @IsString()
  in!: string;

  @IfPresent()
  @IsBoolean()
  required?: boolean;
}

class Tool {
  @IsString()
  @Matches(/^[a-z]+$/, { message: 'must be lower case letters' })
  name!: string;

  @IfPresent()
  @Nested(() => Arg, { each: true })
  args?: Arg[];
}

class Config {
  @Nested(() => Tool, { each: true })
  tools!: Tool[];

  @IfPresent()
  @Nested(() => Arg)
  auth?: Arg;
}

class Base {
  @IfPresent()
  @IsString()
  @MaxLength(5)
  note?: string;
}

class Connector extends Base {
  @IsString()
  type!: string;

  @IfPresent()
  @IsInt()
  @Min(1)
  @Max(9)
  count?: number;

  @IfPresent()
  @IsObject()
  args?: JsonObject;

  @Nested(() => Config)
  config!: Config;
}

const good: JsonObject = { type: 'rest', config: { tools: [{ name: 'a' }] } };
const pathsOf = (value: JsonObject): string[] => judgeShape(Connector, value).problems.map(({ path }) => path);
const paramOf = (value: JsonObject): string | null => {
  try {
    takeShape(Connector, value);
  } catch (error) {
    if (error instanceof DomainError) return error.param;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('takeShape', () => {
  it('gives instances all the way down', () => {
    const taken = takeShape(Connector, good) as Connector;
    expect(taken).toBeInstanceOf(Connector);
    expect(taken.config).toBeInstanceOf(Config);
    expect(taken.config.tools[0]).toBeInstanceOf(Tool);
    expect(taken).toMatchObject(good);
  });

  it('hands over a free-form object as it is, `__proto__` and all', () => {
    const args = Object.assign(Object.create(null) as JsonObject, { constructor: 1 });
    Object.defineProperty(args, '__proto__', { value: { polluted: true }, enumerable: true });
    const taken = takeShape(Connector, { ...good, args }) as Connector;
    expect(taken.args).toBe(args);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each<[string, JsonObject, string]>([
    ['a wrong type', { ...good, type: 1 }, 'type'],
    ['a missing field', { config: { tools: [] } }, 'type'],
    ['an unknown field', { ...good, extra: 1 }, 'extra'],
    ['an unknown field named like a method of objects', { ...good, constructor: 1 }, 'constructor'],
    ['an inherited field', { ...good, note: 'longer' }, 'note'],
    ['null where a field may be left out', { ...good, note: null }, 'note'],
    ['a nested field', { type: 'rest', config: { tools: [{ name: 'a' }, { name: 'A' }] } }, 'config.tools[1].name'],
    ['a missing nested field', { type: 'rest', config: { tools: [{ name: 'a' }, {}] } }, 'config.tools[1].name'],
    ['an unknown nested field', { type: 'rest', config: { tools: [{ name: 'a', x: 1 }] } }, 'config.tools[0].x'],
    [
      'three levels down',
      { type: 'rest', config: { tools: [{ name: 'a', args: [{ in: 'q' }, { in: 3 }] }] } },
      'config.tools[0].args[1].in',
    ],
    ['an item that is no object', { type: 'rest', config: { tools: ['a'] } }, 'config.tools[0]'],
    ['null as an item', { type: 'rest', config: { tools: [null] } }, 'config.tools[0]'],
    ['an array as an item', { type: 'rest', config: { tools: [[]] } }, 'config.tools[0]'],
    ['a text in place of an object', { type: 'rest', config: 'x' }, 'config'],
    ['a text in place of an array', { type: 'rest', config: { tools: 'x' } }, 'config.tools'],
    ['null in place of an object', { type: 'rest', config: null }, 'config'],
    ['an array in place of an object', { type: 'rest', config: [] }, 'config'],
  ])('names %s', (_, value, param) => {
    expect(paramOf(value)).toBe(param);
  });

  it('names the first problem in the order sent, then what is missing, and counts the others', () => {
    const value: JsonObject = { extra: 1, note: 5, config: { auth: {}, tools: [{ x: 1 }] } };
    expect(pathsOf(value)).toEqual([
      'extra',
      'note',
      'config.auth.in',
      'config.tools[0].x',
      'config.tools[0].name',
      'type',
    ]);
    expect(() => takeShape(Connector, value)).toThrow(
      /^The field extra is not a field of this endpoint\. It takes type, .*\. The body has 5 more problems\.$/,
    );
  });

  it('says what the field must be, its type before its bounds', () => {
    expect(() => takeShape(Connector, { ...good, count: 'x' })).toThrow('The field count must be an integer number.');
    expect(() => takeShape(Connector, { ...good, count: 10 })).toThrow('The field count must not be greater than 9.');
    expect(() => takeShape(Connector, { config: { tools: [] } })).toThrow('The field type is required.');
    expect(() => takeShape(Connector, { type: 'rest', config: { tools: [{ name: 'A' }] } })).toThrow(
      'The field config.tools[0].name must be lower case letters.',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { type LoggerOptions, PinoLogger } from './pino-logger.js';

const logging = (options: Partial<LoggerOptions> = {}) => {
  const lines: string[] = [];
  const logger = new PinoLogger({
    level: 'info',
    format: 'json',
    destination: { write: (line) => lines.push(line) },
    ...options,
  });
  return { logger, lines };
};

describe('PinoLogger', () => {
  it('writes one JSON line a record, its attributes in the order given', () => {
    const { logger, lines } = logging();
    logger.info('request', { request_id: 'req_1', empty: '', status: 200 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\n$/);
    const record = JSON.parse(lines[0] as string) as Record<string, unknown>;
    expect(Object.keys(record)).toEqual(['level', 'time', 'request_id', 'empty', 'status', 'message']);
    expect(record).toMatchObject({ level: 'info', message: 'request', empty: '', status: 200 });
    expect(record['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('redacts the message as well as the attributes', () => {
    const { logger, lines } = logging();
    logger.error(`no such key svc_test_abcdefgh_${'0'.repeat(32)}`, { password: 'p' });
    expect(JSON.parse(lines[0] as string)).toMatchObject({ message: 'no such key svc_test_[redacted]' });
    expect(lines[0]).not.toContain('password');
  });

  it('skips records below its level', () => {
    const { logger, lines } = logging({ level: 'warn' });
    logger.debug('d');
    logger.info('i');
    logger.warn('w');
    logger.error('e');
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['w', 'e']);
  });

  it('writes key=value in dev, groups flattened, one line whatever the values hold', () => {
    const { logger, lines } = logging({ format: 'text' });
    logger.info('two words', {
      path: '/v1/a',
      empty: '',
      evil: 'a\nb=1 \u001b[31m\u202e',
      group: { count: 2, list: [1, 'x'] },
    });
    expect(lines).toHaveLength(1);
    expect((lines[0] as string).replace(/time=\S+/, 'time=T')).toBe(
      'level=info time=T path=/v1/a empty="" evil="a\\nb=1 \\u001b[31m\\u202e" group.count=2 group.list="[1,\\"x\\"]" message="two words"\n',
    );
  });
});

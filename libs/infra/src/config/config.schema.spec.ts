import { describe, expect, it } from 'vitest';
import { ConfigError, environmentWith, inspectSettings, parseConfig, SETTINGS_HELP } from './config.schema.js';

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    parseConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('settings', () => {
  it('have defaults that start a service in dev', () => {
    const config = parseConfig({});
    expect(config).toMatchObject({ env: 'dev', host: '127.0.0.1', port: 8080, databaseUrl: null, logLevel: 'info' });
    expect(config.stateDir).toMatch(/\/\.service$/);
  });

  it('treat an empty variable as an absent one', () => {
    expect(parseConfig({ SERVICE_PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 8080, databaseUrl: null });
  });

  it('report all problems together', () => {
    const problems = problemsOf({
      SERVICE_PORT: '65536',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://x',
      REDIS_URL: 'memcached://x',
    });
    expect(problems.map((line) => line.split(' ')[0])).toEqual([
      'SERVICE_PORT',
      'DATABASE_URL',
      'REDIS_URL',
      'LOG_LEVEL',
    ]);
  });

  it('take hosts and ranges that connectors may reach', () => {
    const text = 'crm.corp, crm.corp:8443,*.corp.example, 10.1.0.0/16,[fd00::1]:8443';
    expect(parseConfig({ SERVICE_EGRESS_ALLOW: text }).egressAllow).toHaveLength(5);
  });

  it.each(['10.0.0.0/99', 'http://crm.corp', 'crm.corp:0', 'crm.corp:65536', 'crm corp', '*'])(
    'refuse %j as a destination, with everything else that is wrong',
    (text) => {
      const problems = problemsOf({ SERVICE_EGRESS_ALLOW: `crm.corp,${text}`, SERVICE_PORT: 'x' });
      expect(problems).toHaveLength(2);
      expect(problems[1]).toContain(`SERVICE_EGRESS_ALLOW must list hosts and ranges; ${text} is neither`);
    },
  );

  it('take faults to cause, refuse those that do not exist, and refuse all of them in production', () => {
    expect(parseConfig({ SERVICE_FAILPOINTS: 'none' }).failpoints).toBe('none');
    expect(problemsOf({ SERVICE_FAILPOINTS: 'exec.sent=kill@3,exec.snt=kill' })).toEqual([
      'SERVICE_FAILPOINTS must list faults to cause; "exec.snt" is not a failpoint; did you mean exec.sent?',
    ]);
    const production = { SERVICE_ENV: 'production', SERVICE_BASE_URL: 'https://ags.example' };
    expect(problemsOf({ ...production, SERVICE_FAILPOINTS: 'none' })).toEqual([
      'SERVICE_FAILPOINTS must be unset in production',
    ]);
  });

  it('take a Redis by its URL alone', () => {
    const usable = [
      'redis://cache:6380/2',
      'rediss://user:50%25@cache/',
      'redis://[::1]:6379',
      'redis://cache?family=6',
    ];
    for (const url of usable) {
      expect(parseConfig({ REDIS_URL: url }).redisUrl).toBe(url);
    }
    for (const url of ['cache:6379', 'redis:///2', 'http://cache']) {
      expect(problemsOf({ REDIS_URL: url })).toEqual(['REDIS_URL must be a redis:// or rediss:// URL']);
    }
  });

  it.each([
    ['redis://cache/jobs', 'must end in the number of a database, as redis://host:6379/0, or in none'],
    ['redis://cache/1.5', 'must end in the number of a database, as redis://host:6379/0, or in none'],
    ['redis://cache?db=jobs', 'may have no parameter but family, 4 or 6'],
    ['rediss://cache?rejectUnauthorized=false', 'may have no parameter but family, 4 or 6'],
    ['redis://:50%off@cache', 'must have its user and password percent-encoded: % is written %25'],
  ])('refuse %s, over which the client would end the process or do something else', (url, said) => {
    expect(problemsOf({ REDIS_URL: url })).toEqual([`REDIS_URL ${said}`]);
  });

  it('take an event store by its URL, and say what is wrong with one', () => {
    const url = 'esdb://admin:changeit@one:2113,two:2113?tlsCAFile=/etc/ca.crt';
    expect(parseConfig({ EVENT_STORE_URL: url }).eventStoreUrl).toBe(url);
    expect(parseConfig({}).eventStoreUrl).toBe(null);
    expect(problemsOf({ EVENT_STORE_URL: 'esdb://one' })).toEqual([
      'EVENT_STORE_URL must name a user and password: a server with TLS takes no others (tls=false has none)',
    ]);
  });

  it('take a mail server with who mails are from, and say what is wrong with either', () => {
    const mail = { SMTP_URL: 'smtp://ags:p%40ss@mail.example', SERVICE_MAIL_FROM: 'Ags <ags@example.com>' };
    expect(parseConfig(mail)).toMatchObject({ smtpUrl: mail.SMTP_URL, mailFrom: mail.SERVICE_MAIL_FROM });
    expect(parseConfig({})).toMatchObject({ smtpUrl: null, mailFrom: null });
    expect(parseConfig({ SERVICE_MAIL_FROM: 'ags@example.com' }).mailFrom).toBe('ags@example.com');
    expect(problemsOf({ SMTP_URL: mail.SMTP_URL })).toEqual([
      'SERVICE_MAIL_FROM must be set where SMTP_URL is, to an address that its server may send from',
    ]);
    expect(problemsOf({ SMTP_URL: 'mail.example', SERVICE_MAIL_FROM: 'a@x.com, b@x.com' })).toEqual([
      expect.stringMatching(/^SMTP_URL must be a URL such as smtp:/),
      'SERVICE_MAIL_FROM must be one plain e-mail address, such as name@example.com, or have a name before it: Some Name <name@example.com>',
    ]);
  });

  it('say by whom people join', () => {
    expect(parseConfig({}).signUp).toBe('invite');
    expect(parseConfig({ SERVICE_SIGN_UP: 'closed' }).signUp).toBe('closed');
    expect(problemsOf({ SERVICE_SIGN_UP: 'open' })).toEqual(['SERVICE_SIGN_UP must be one of invite, closed']);
  });

  it('take trusted proxies as addresses and ranges', () => {
    const text = '10.0.0.1, 172.16.0.0/12,::1,fd00::/8';
    expect(parseConfig({ SERVICE_TRUSTED_PROXIES: text }).trustedProxies).toEqual([
      '10.0.0.1',
      '172.16.0.0/12',
      '::1',
      'fd00::/8',
    ]);
    expect(parseConfig({}).trustedProxies).toEqual([]);
  });

  it.each([
    'proxy.example',
    '10.0.0.1/33',
    '::1/129',
    '10.0.0.1/',
    '10.0.0.1/08',
    '10.0.0.1/8/8',
    '10.1, 10.0.0.1',
    '*',
  ])('refuse %j as trusted proxies', (text) => expect(problemsOf({ SERVICE_TRUSTED_PROXIES: text })).toHaveLength(1));

  it.each(['8080.0', '1e3', '-1', '0x50', ' 80', '99999999999999999'])('refuse %j as a port', (port) => {
    expect(problemsOf({ SERVICE_PORT: port })).toHaveLength(1);
  });

  it('refuse a production base URL that is not https, and a missing one', () => {
    expect(problemsOf({ SERVICE_ENV: 'production', SERVICE_BASE_URL: 'http://a.example' })).toHaveLength(1);
    expect(problemsOf({ SERVICE_ENV: 'production' })).toHaveLength(1);
    expect(problemsOf({ SERVICE_ENV: 'production', SERVICE_BASE_URL: 'https://a.example/' })).toEqual([]);
  });

  it.each(['ftp://a', 'http://u@a', 'http://a?x', 'http://a#x', 'a'])('refuse %j as a base URL', (url) => {
    expect(problemsOf({ SERVICE_BASE_URL: url })).toHaveLength(1);
  });

  it('are frozen', () => {
    expect(Object.isFrozen(parseConfig({}))).toBe(true);
  });

  it('are all described', () => {
    for (const help of SETTINGS_HELP) expect(help.description).toMatch(/\.$/);
  });

  it('are shown with what takes effect and what is wrong, together', () => {
    const reports = inspectSettings({ SERVICE_PORT: '70000', LOG_LEVEL: 'warn' });
    expect(reports.map(({ variable }) => variable)).toEqual(SETTINGS_HELP.map(({ variable }) => variable));
    const of = (variable: string) => reports.find((report) => report.variable === variable);
    expect(of('SERVICE_PORT')).toMatchObject({ value: '70000', problem: expect.stringContaining('65535') });
    expect(of('LOG_LEVEL')).toMatchObject({ value: 'warn', isSet: true, problem: null });
    expect(of('SERVICE_HOST')).toMatchObject({ value: '127.0.0.1', isSet: false, problem: null });
    expect(of('DATABASE_URL')).toMatchObject({ value: null, isSet: false, problem: null });
  });

  it('name what a rule between two of them refuses', () => {
    const refused = inspectSettings({ SERVICE_ENV: 'production' }).filter(({ problem }) => problem !== null);
    expect(refused.map(({ variable }) => variable)).toEqual(['SERVICE_BASE_URL']);
  });

  it('of this process do not reach a program that gets its own', () => {
    const environment = environmentWith(
      { SERVICE_PORT: '0' },
      { PATH: '/bin', DATABASE_URL: 'postgres://x', A: undefined },
    );
    expect(environment).toEqual({ PATH: '/bin', SERVICE_PORT: '0' });
  });
});

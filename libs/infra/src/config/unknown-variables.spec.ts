import { describe, expect, it } from 'vitest';
import { ConfigError, ignoredVariables, parseConfig, SETTINGS_HELP } from './config.schema.js';
import { unknownVariables } from './unknown-variables.js';

const KNOWN = SETTINGS_HELP.map(({ variable }) => variable);
const meantBy = (variable: string): string | null | undefined =>
  unknownVariables({ [variable]: 'x' }, KNOWN).map(({ meant }) => meant)[0];

describe('a variable named as settings are, that is none,', () => {
  it.each([
    ['SERVICE_PROT', 'SERVICE_PORT'],
    ['SERVICE_PORTS', 'SERVICE_PORT'],
    ['SERVICE_HOTS', 'SERVICE_HOST'],
    ['SERVICE_EVN', 'SERVICE_ENV'],
    ['SERVICE_STATEDIR', 'SERVICE_STATE_DIR'],
    ['SERVICE_STAET_DIR', 'SERVICE_STATE_DIR'],
    ['SERVICE_BASE_URI', 'SERVICE_BASE_URL'],
    ['SERVICE_TRUSTED_PROXY', null],
    ['SERVICE_TRUSTED_PROXYS', 'SERVICE_TRUSTED_PROXIES'],
    ['SERVICE_LOG_LEVEL', 'LOG_LEVEL'],
    ['SERVICE_DATABASE_URL', 'DATABASE_URL'],
    ['SERVICE_', null],
    // Words of their own, that platforms and neighbours use.
    ...['ID', 'NAME', 'TAGS', 'ROOT', 'TEST', 'TYPE', 'URL', 'TOKEN', 'VERSION', 'RESULT', 'ACCOUNT'].map(
      (word): [string, null] => [`SERVICE_${word}`, null],
    ),
  ])('%s meant %s', (variable, meant) => expect(meantBy(variable)).toBe(meant));

  it.each([
    // Of a Kubernetes Service called `service`.
    ['SERVICE_SERVICE_HOST', '10.0.0.11'],
    ['SERVICE_SERVICE_PORT', '8080'],
    ['SERVICE_SERVICE_PORT_HTTP', '8080'],
    ['SERVICE_PORT_8080_TCP', 'tcp://10.0.0.11:8080'],
    ['SERVICE_PORT_8080_TCP_PROTO', 'tcp'],
    ['SERVICE_PORT_8080_TCP_PORT', '8080'],
    ['SERVICE_PORT_8080_TCP_ADDR', '10.0.0.11'],
    ['SERVICE_PORT_53_UDP', 'udp://10.0.0.11:53'],
    // Of one called `service-mail`.
    ['SERVICE_MAIL_SERVICE_HOST', '10.0.0.12'],
    ['SERVICE_MAIL_PORT', 'tcp://10.0.0.12:25'],
    ['SERVICE_MAIL_PORT_25_TCP', 'tcp://10.0.0.12:25'],
    // Left empty, and named otherwise.
    ['SERVICE_PROT', ''],
    ['MY_SERVICE_PROT', '9000'],
    ['service_prot', '9000'],
  ])('is not looked for in %s=%s', (variable, text) => {
    expect(unknownVariables({ [variable]: text }, KNOWN)).toEqual([]);
  });
});

describe('settings', () => {
  const problemsOf = (environment: Record<string, string>): readonly string[] => {
    try {
      parseConfig(environment);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  };

  it('refuse a slip of a setting’s name, together with every other problem', () => {
    expect(problemsOf({ SERVICE_PROT: '9000', SERVICE_PORT: 'x', SERVICE_STATEDIR: '/srv' })).toEqual([
      'SERVICE_PORT must be a whole number from 0 to 65535',
      'SERVICE_PROT is not a setting; did you mean SERVICE_PORT?',
      'SERVICE_STATEDIR is not a setting; did you mean SERVICE_STATE_DIR?',
    ]);
  });

  it('let a name be that is close to none, and tell of it', () => {
    const environment = { SERVICE_TAGS: 'web', SERVICE_NAME: 'ags' };
    expect(problemsOf(environment)).toEqual([]);
    expect(ignoredVariables(environment)).toEqual(['SERVICE_NAME', 'SERVICE_TAGS']);
  });

  it('say where a port came from that Kubernetes has written', () => {
    expect(problemsOf({ SERVICE_PORT: 'tcp://10.0.0.11:8080' })).toEqual([
      'SERVICE_PORT must be a whole number from 0 to 65535; this is the address that Kubernetes injects for a Service ' +
        'named "service": set SERVICE_PORT in the container, or enableServiceLinks: false in the pod',
    ]);
  });

  it('report a base URL that production refuses beside problems of other settings', () => {
    expect(problemsOf({ SERVICE_ENV: 'production', LOG_LEVEL: 'loud' })).toEqual([
      'LOG_LEVEL must be one of debug, info, warn, error',
      'SERVICE_BASE_URL must be an https URL in production',
    ]);
  });
});

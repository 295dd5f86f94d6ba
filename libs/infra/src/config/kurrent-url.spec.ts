import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InvalidKurrentUrl, parseKurrentUrl } from './kurrent-url.js';

describe('the URL of an event store', () => {
  it('names one node, without TLS and so without a user', () => {
    expect(parseKurrentUrl('esdb://localhost?tls=false')).toEqual({
      connectionString: 'esdb://localhost:2113?tls=false&keepAliveTimeout=3000',
      nodes: [{ host: 'localhost', port: 2113 }],
      isCluster: false,
      caFile: null,
      credentials: null,
    });
  });

  it('names a cluster with TLS, and a user whose password is encoded', () => {
    const url = 'kurrentdb://admin:a%3Ab%40c@one.example:2113,two.example:2114/?tlsCAFile=ca.crt&keepalivetimeout=5000';
    expect(parseKurrentUrl(url)).toEqual({
      connectionString: `esdb://admin:a%3Ab%40c@one.example:2113,two.example:2114?tlsCAFile=${resolve('ca.crt')}&keepAliveTimeout=5000&gossipTimeout=1`,
      nodes: [
        { host: 'one.example', port: 2113 },
        { host: 'two.example', port: 2114 },
      ],
      isCluster: true,
      caFile: resolve('ca.crt'),
      credentials: { username: 'admin', password: 'a:b@c' },
    });
  });

  it('names a cluster by one DNS name', () => {
    const { connectionString, isCluster } = parseKurrentUrl('esdb+discover://u:p@nodes.example');
    expect(connectionString).toMatch(/^esdb\+discover:\/\/u:p@/);
    expect(isCluster).toBe(true);
  });

  it.each([
    ['http://localhost:2113', 'must be a URL such as'],
    ['esdb://', 'must be a URL such as'],
    ['esdb://localhost', 'must name a user and password'],
    ['esdb://admin@localhost', 'must be a URL such as'],
    ['esdb://:changeit@localhost', 'must name a user and password'],
    ['esdb://u:%zz@localhost', 'must percent-encode'],
    ['esdb://[::1]:2113?tls=false', 'must name its hosts'],
    ['esdb://a:70000?tls=false', 'must name its hosts'],
    ['esdb://a,,b?tls=false', 'must name its hosts'],
    ['esdb+discover://u:p@a,b', 'must name one host after +discover'],
    ['esdb://a?tls=no', 'must give tls as true or false'],
    ['esdb://a?tls=false&nodePreference=follower', 'must give nodePreference as leader'],
    ['esdb://a?tls=false&keepAliveInterval=1000', 'must give keepAliveInterval as milliseconds, at least 10000'],
    ['esdb://u:p@a?tlsVerifyCert=false', 'must have no parameters but tls, '],
    ['esdb://a?tls=false&throwOnAppendFailure=false', 'parameter 2 is another'],
    ['esdb://u:p@a?userCertFile=a&userKeyFile=b', 'parameter 1 is another'],
  ])('refuses %s', (url, message) => {
    expect(() => parseKurrentUrl(url)).toThrow(InvalidKurrentUrl);
    expect(() => parseKurrentUrl(url)).toThrow(message);
  });

  it('never shows the password in what it says', () => {
    for (const url of [
      'esdb://u:secret@[::1]',
      'esdb://u:secret@a?tls=no',
      'xyz://u:secret@a',
      'esdb://u:secret%zz@a',
      'esdb://u:secret?x@a?tls=true',
      'esdb://u:se?secret@a',
      'esdb://u:12?secret@a',
      'esdb://u:12?secret&more@a',
      'esdb://u:secret',
      'esdb://u:12?secret',
      'esdb://u:12?secret=3',
      'esdb://u:12?tls=false&secret',
    ]) {
      expect(() => parseKurrentUrl(url)).toThrow(InvalidKurrentUrl);
      expect(() => parseKurrentUrl(url)).not.toThrow(/secret/);
    }
  });
});

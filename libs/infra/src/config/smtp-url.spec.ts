import { describe, expect, it } from 'vitest';
import { InvalidSmtpUrl, parseSmtpUrl } from './smtp-url.js';

const login = { user: 'ags', password: 'p@ss' };

describe('parseSmtpUrl', () => {
  it.each([
    ['smtp://mail.example', { host: 'mail.example', port: 587, encryption: 'starttls', login: null }],
    ['smtp://ags:p%40ss@mail.example:2525/', { host: 'mail.example', port: 2525, encryption: 'starttls', login }],
    ['smtps://ags:p%40ss@mail.example', { host: 'mail.example', port: 465, encryption: 'implicit', login }],
    ['smtps://mail.example:25?tls=required', { host: 'mail.example', port: 25, encryption: 'implicit', login: null }],
    ['smtp://mail.example?tls=optional', { host: 'mail.example', port: 587, encryption: 'offered', login: null }],
    ['smtp://localhost:25', { host: 'localhost', port: 25, encryption: 'none', login: null }],
    ['smtp://ags:p%40ss@127.0.0.1:25', { host: '127.0.0.1', port: 25, encryption: 'none', login }],
    ['smtp://[::1]:25?tls=required', { host: '::1', port: 25, encryption: 'starttls', login: null }],
    ['smtp://[fd00::1]:25', { host: 'fd00::1', port: 25, encryption: 'starttls', login: null }],
    // No loopback, whatever it looks like.
    ['smtp://localhost.example', { host: 'localhost.example', port: 587, encryption: 'starttls', login: null }],
    ['smtp://127.0.0.1.example', { host: '127.0.0.1.example', port: 587, encryption: 'starttls', login: null }],
  ])('reads %s', (url, server) => expect(parseSmtpUrl(url)).toEqual(server));

  const shape = /^must be a URL such as smtp:\/\//;
  it.each([
    ['mail.example', shape],
    ['http://mail.example', shape],
    ['smtp:mail.example', shape],
    ['smtp://', shape],
    ['smtp://one,two', shape],
    ['smtp://mail.example:0', /^must have a port/],
    ['smtp://mail.example/inbox', /^must have no path/],
    ['smtp://mail.example#x', /^must have no path/],
    ['smtp://mail.example?tls=no', /tls=optional/],
    ['smtp://mail.example?rejectUnauthorized=false', /tls=optional/],
    ['smtp://mail.example?tls=optional&tls=required', /tls=optional/],
    ['smtps://mail.example?tls=optional', /^must begin with smtp:/],
    ['smtp://ags@mail.example', /^must have both/],
    ['smtp://:secret@mail.example', /^must have both/],
    ['smtp://ags:50%off@mail.example', /% is written %25/],
    ['smtp://ags:a%0d%0ab@mail.example', /control character/],
  ])('refuses %s', (url, said) => {
    expect(() => parseSmtpUrl(url)).toThrow(InvalidSmtpUrl);
    expect(() => parseSmtpUrl(url)).toThrow(said);
  });

  it.each(['smtp://ags:canary@', 'smtp://ags:canary@mail.example/x', 'smtp://ags:canary%@mail.example'])(
    'quotes nothing of %s',
    (url) => expect(() => parseSmtpUrl(url)).toThrow(/^(?!.*canary)/s),
  );
});

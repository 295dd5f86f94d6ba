import { expect, it } from 'vitest';
import { nextPath } from './next-path.js';

it.each(['/', '/app/actions', '/app/actions?status=denied&q=a%20b', '/app/approvals/apr_1#context'])(
  'goes on to %s',
  (path) => expect(nextPath(path)).toBe(path),
);

it.each([
  '',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  'evil.example',
  '/app/..//evil.example',
  '/app/../x',
  '/app/./x',
  '/app//x',
  '/app\\evil',
  '/app%0d%0aSet-Cookie:x',
  '/app%2f%2fevil',
  '/app%5cevil',
  '/app\r\nx',
  '/app\tx',
  '/ä',
  '/<script>',
  ' /app',
])('drops %j', (path) => expect(nextPath(path)).toBeNull());

it('drops what was not sent', () => expect(nextPath(undefined)).toBeNull());

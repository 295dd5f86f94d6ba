import { expect, it } from 'vitest';
import { checkedName } from './checked-name.js';
import { checkedReason } from './checked-reason.js';
import { isOneLine, isPlainText } from './plain-text.js';

const ORDERS_TO_TERMINALS = ['\u001b[2J', '\u009b2J', '\u0007', '\u0000', '\u007f', '\u0085', 'a\rb'];

it.each(ORDERS_TO_TERMINALS)('refuses %j in a plain text, a line, a name and a reason', (text) => {
  expect([isPlainText(`x${text}y`), isOneLine(`x${text}y`)]).toEqual([false, false]);
  expect(() => checkedName(`x${text}y`)).toThrow('one line');
  expect(() => checkedReason(`x${text}y`)).toThrow('one line');
});

it('allows line breaks and tabs in a text and not in a line', () => {
  for (const text of ['a\nb', 'a\r\nb', 'a\tb']) expect([isPlainText(text), isOneLine(text)]).toEqual([true, false]);
  for (const text of ['a\u2028b', 'a\u2029b']) {
    expect([isPlainText(text), isOneLine(text)]).toEqual([true, false]);
    expect(() => checkedName(text)).toThrow('one line');
    expect(() => checkedReason(text)).toThrow('one line');
  }
  expect([isPlainText('Grüße, 日本 🎉'), isOneLine('Grüße, 日本 🎉')]).toEqual([true, true]);
});

import { describe, expect, it } from 'vitest';

import type { JsonObject, JsonValue } from '#libs/crypto';

import { costOfCall } from './rest-cost.js';
import type { RestTool } from './rest-config.js';
import { buildRestRequest, restRequestFacts } from './rest-request.js';
import { paramOf, read, withTool } from './testing/given-rest-config.js';

const ARGS = {
  amount: { in: 'body', type: 'integer', min: 1, required: true, money: { currency_arg: 'currency' } },
  currency: { in: 'body', type: 'string', required: true },
  tip: { in: 'body', type: 'integer', min: 0, money: { currency: 'eur' } },
  debt: { in: 'body', type: 'integer', required: true, money: { currency: 'eur' } },
  count: { in: 'body', type: 'integer', min: 0, required: true },
} as const;

const withCost = (cost: JsonValue, args: JsonObject = ARGS): JsonValue =>
  withTool({ method: 'POST', path: '/v1/refunds', args, cost });
const toolWith = (cost: JsonValue, args?: JsonObject): RestTool => read(withCost(cost, args)).tools[0] as RestTool;

describe('the cost in a config', () => {
  it.each([
    ['a fixed amount', { amount: 0, currency: 'eur' }],
    ['an argument', { arg: 'amount' }],
  ])('is %s', (_, cost) => expect(toolWith(cost).cost).toEqual(cost));

  it.each([
    ['config.tools[0].cost', 'eur'],
    ['config.tools[0].cost', {}],
    ['config.tools[0].cost', { arg: 'amount', amount: 5 }],
    ['config.tools[0].cost.price', { arg: 'amount', price: 5 }],
    ['config.tools[0].cost.amount', { amount: 1.5, currency: 'eur' }],
    ['config.tools[0].cost.amount', { amount: -1, currency: 'eur' }],
    ['config.tools[0].cost.currency', { amount: 5 }],
    ['config.tools[0].cost.currency', { amount: 5, currency: 'EUR' }],
    ['config.tools[0].cost.currency', { arg: 'amount', currency: 'eur' }],
    ['config.tools[0].cost.arg', { arg: 'nothing' }],
    ['config.tools[0].cost.arg', { arg: 'constructor' }],
    ['config.tools[0].cost.arg', { arg: 'count' }],
    ['config.tools[0].cost.arg', { arg: 'tip' }],
    ['config.tools[0].cost.arg', { arg: 'debt' }],
  ])('is refused at %s: %j', (param, cost) => expect(paramOf(withCost(cost as JsonValue))).toBe(param));

  it('needs the argument that names its currency in every call', () => {
    const args = { ...ARGS, currency: { in: 'body', type: 'string' } };
    expect(paramOf(withCost({ arg: 'amount' }, args))).toBe('config.tools[0].cost.arg');
  });
});

const FIXED = { amount: 250, currency: 'usd' } as const;
const call = (currency: JsonValue): JsonObject => ({ amount: 8_000, currency, debt: 1, count: 1 });

describe('the cost of a call', () => {
  it.each([
    ['that of its tool, whatever its arguments', FIXED, call('eur'), FIXED],
    [
      'the argument, in the currency that the other names',
      { arg: 'amount' },
      call('EUR'),
      { amount: 8_000, currency: 'eur' },
    ],
  ])('is %s, and a fact of the request', (_, cost, args, expected) => {
    const rest = read(withCost(cost));
    const tool = rest.tools[0] as RestTool;
    expect(costOfCall(tool, args)).toEqual(expected);
    expect(restRequestFacts(rest, tool, args)).toMatchObject({ cost: expected, http: { method: 'POST' } });
  });

  it.each(['Eur', 'euro', '', 'e1r'])('in no currency is refused before anything is sent: %j', (currency) => {
    const rest = read(withCost({ arg: 'amount' }));
    const tool = rest.tools[0] as RestTool;
    expect(buildRestRequest(rest, tool, call(currency), 'act_1')).toMatchObject({
      ok: false,
      fault: { param: 'args.currency' },
    });
    expect(restRequestFacts(rest, tool, call(currency))).toEqual({});
  });

  it('of a tool that names none is not known', () => {
    const rest = read(withTool({ method: 'POST', path: '/v1/refunds', args: ARGS }));
    expect(restRequestFacts(rest, rest.tools[0] as RestTool, call('eur'))).not.toHaveProperty('cost');
  });
});

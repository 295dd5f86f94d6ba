import { CURRENCY_PATTERN, type JsonObject } from '#libs/crypto';

import { ConfigReader } from '../config-reader.js';
import type { ArgumentFault } from '../connector-driver.port.js';
import type { CallCost } from '../request-facts.js';
import type { RestArgument, RestCost, RestTool } from './rest-config.js';
import { REST_PLACES } from './rest-keys.js';

const CURRENCY_CHARACTERS = 3;
const NAME_MAX_CHARACTERS = 64;

/** What each call of a tool spends, as its config says; undefined, and problems, where that cannot be. */
export const readCost = (
  tool: ConfigReader,
  args: Readonly<Record<string, RestArgument>> | undefined,
): RestCost | undefined => {
  if (!tool.has('cost')) return undefined;
  const cost = ConfigReader.of(tool.raw('cost'), tool.at('cost'), tool.problems);
  if (cost === null) return undefined;
  cost.refuseUnknown(REST_PLACES.cost);
  if (cost.has('arg') === cost.has('amount')) {
    return tool.report('cost', 'must have either amount and currency, or arg, the argument that is the amount.');
  }
  return cost.has('arg') ? readNamedCost(cost, args) : readFixedCost(cost);
};

const readFixedCost = (cost: ConfigReader): RestCost | undefined => {
  const amount = cost.integer('amount', { min: 0, max: Number.MAX_SAFE_INTEGER });
  cost.require('currency');
  const currency = cost.text('currency', { maxCharacters: CURRENCY_CHARACTERS });
  if (amount === undefined || currency === undefined) return undefined;
  if (CURRENCY_PATTERN.test(currency)) return { amount, currency };
  return cost.report('currency', 'must be a code of ISO 4217, three lower-case letters such as eur.');
};

/** A call that may leave its amount out, or have one below zero, would spend past every budget: the config rules it out. */
const readNamedCost = (
  cost: ConfigReader,
  args: Readonly<Record<string, RestArgument>> | undefined,
): RestCost | undefined => {
  if (cost.has('currency')) {
    return cost.report('currency', 'belongs beside amount; of an argument its money says the currency.');
  }
  const name = cost.text('arg', { maxCharacters: NAME_MAX_CHARACTERS });
  if (name === undefined || args === undefined) return undefined;
  const arg = Object.hasOwn(args, name) ? args[name] : undefined;
  if (arg?.money === undefined) return cost.report('arg', 'must name an argument of the tool that has money.');
  if (!arg.required || (arg.min ?? -1) < 0) {
    return cost.report('arg', `must name an argument that is required and has a min of at least 0; ${name} is not so.`);
  }
  if ('currency_arg' in arg.money && args[arg.money.currency_arg]?.required !== true) {
    return cost.report('arg', `needs its currency in every call: make ${arg.money.currency_arg} required.`);
  }
  return { arg: name };
};

/** Systems write codes in capitals, too, and mean the same. */
const CODE = /^(?:[a-z]{3}|[A-Z]{3})$/;

/** What a call spends; null where its tool says nothing, or its arguments are none that the tool accepts. */
export const costOfCall = ({ cost, args: described }: RestTool, args: JsonObject): CallCost | null => {
  if (cost === undefined) return null;
  if (!('arg' in cost)) return { amount: cost.amount, currency: cost.currency };
  const [amount, money] = [args[cost.arg], described[cost.arg]?.money];
  if (typeof amount !== 'number' || money === undefined) return null;
  const code = 'currency' in money ? money.currency : args[money.currency_arg];
  return typeof code === 'string' && CODE.test(code) ? { amount, currency: code.toLowerCase() } : null;
};

/** A call that names its cost in no currency is not sent: no budget could count it. */
export const costFault = (tool: RestTool, args: JsonObject): ArgumentFault | null => {
  if (tool.cost === undefined || !('arg' in tool.cost) || costOfCall(tool, args) !== null) return null;
  const money = tool.args[tool.cost.arg]?.money;
  const name = money !== undefined && 'currency_arg' in money ? money.currency_arg : tool.cost.arg;
  const param = `args.${name}`;
  return { param, message: `${param} must be the currency of what the call spends, three letters such as eur.` };
};

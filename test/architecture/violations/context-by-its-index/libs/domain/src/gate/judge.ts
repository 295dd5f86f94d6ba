import { evolve } from '../policies/policy.state.js';
import { activate } from '#libs/domain/policies/handlers';
import { policies } from '../policies/index.js';
import { decider } from '../kernel/decider.js';
import { action } from './action.js';

export const used = [evolve, activate, policies, decider, action];

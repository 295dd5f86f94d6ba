// What the driver of payments needs of its rules (libs/infra/src/connectors/payments).
export { judgeCutOffPayment, judgePayment, type PaymentsAnswer } from './payments-answer.js';
export { type PaymentsConfig, paymentsConfigOf } from './payments-config.js';
export { judgeConfirmation, planConfirmation, readBackTermsOf, unverifiable } from './payments-confirm.js';
export {
  factsOfArguments,
  factsOfCharge,
  factsOfSubscription,
  readsFacts,
  type SeenCharge,
  seenCharge,
  seenSubscription,
} from './payments-facts.js';
export { isSandboxKey } from './payments-key.js';
export { limitFault, planPayments, planPaymentsRead } from './payments-request.js';
export { PAYMENTS_TOOLS, paymentsToolNamed } from './payments-tools.js';

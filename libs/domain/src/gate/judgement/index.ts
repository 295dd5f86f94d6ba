export {
  type AcceptedIntent,
  type ActionRequest,
  builtinDecision,
  type CanonicalRequest,
  canonicalArguments,
  canonicalRequest,
  comparisonOf,
  inputDocument,
  isKnownToEdgeAlone,
  policyInputOf,
  type ResolvedTool,
  resolveTool,
  sideEffectOfCall,
  submissionOf,
  whyToolUnknown,
} from './call-request.js';
export { heldDecision, heldSentence } from './held-tool.js';
export { judgedArguments, judgedTool, type JudgedTool, whyHeldNow } from './judged-call.js';
export { type Judgement, PolicyJudge } from './policy-judge.js';
export { type ComparedOutcomes, policyOutcomeOf, PolicyPreview, type Unjudged } from './policy-preview.js';
export { needsReadFacts, withReadFacts } from './read-facts.js';
export { recordedInput } from './recorded-input.js';
export { edgeOf, executionOf } from './run-terms.js';

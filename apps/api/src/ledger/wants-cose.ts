import { COSE_MEDIA_TYPE } from '#libs/crypto';
import { type AcceptedRange, prefers } from '../http/accepted.js';

const JSON_MEDIA_TYPE = 'application/json';
/** RFC 9052, section 11.3.3: the parameter `cose-type` names the COSE structure, and a deed is a COSE_Sign1. */
const COSE_STRUCTURE = 'cose-sign1';

/** Whether an Accept header prefers the COSE form of a deed to its JSON bytes, which are the default. */
export const wantsCose = (accept: string | undefined): boolean => prefers(accept, isCose, JSON_MEDIA_TYPE);

const isCose = ({ mediaType, parameters }: AcceptedRange): boolean =>
  mediaType === COSE_MEDIA_TYPE && (parameters.get('cose-type') ?? COSE_STRUCTURE) === COSE_STRUCTURE;

import { COSE_MEDIA_TYPE } from '#libs/crypto';

const JSON_MEDIA_TYPE = 'application/json';
/** RFC 9052, section 11.3.3: the parameter `cose-type` names the COSE structure, and a deed is a COSE_Sign1. */
const COSE_STRUCTURE = 'cose-sign1';
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

interface AcceptedRange {
  /** In lower case: `application/cose`, `application/*`. */
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The weight `q`, 0 to 1. */
  readonly weight: number;
}

/**
 * Whether an Accept header prefers the COSE form of a deed to its JSON bytes (RFC 9110, section 12.5.1). COSE must be
 * named: a wildcard means the stored bytes. A header that accepts neither form gets the JSON too, because the error
 * catalogue has no code for 406.
 */
export const wantsCose = (accept: string | undefined): boolean => {
  const ranges = (accept ?? '').split(',').map(rangeOf);
  const cose = ranges.find(isCose)?.weight ?? 0;
  const json = ranges.find(({ mediaType }) => mediaType === JSON_MEDIA_TYPE);
  return cose > 0 && (json === undefined || cose > json.weight);
};

const isCose = ({ mediaType, parameters }: AcceptedRange): boolean =>
  mediaType === COSE_MEDIA_TYPE && (parameters.get('cose-type') ?? COSE_STRUCTURE) === COSE_STRUCTURE;

const rangeOf = (text: string): AcceptedRange => {
  const [mediaType = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(rest.map(parameterOf));
  const weight = parameters.get('q') ?? '1';
  // A range with an invalid weight is ignored.
  return { mediaType: mediaType.toLowerCase(), parameters, weight: WEIGHT.test(weight) ? Number(weight) : 0 };
};

const parameterOf = (text: string): [name: string, value: string] => {
  const [name = '', value = ''] = text.split('=', 2);
  return [
    name.trim().toLowerCase(),
    value
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase(),
  ];
};

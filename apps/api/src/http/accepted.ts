const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** What an Accept header names (RFC 9110, section 12.5.1). */
export interface AcceptedRange {
  /** In lower case: `application/cose`, `application/*`. */
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The weight `q`, 0 to 1. */
  readonly weight: number;
}

const acceptedRanges = (accept: string | undefined): readonly AcceptedRange[] => (accept ?? '').split(',').map(rangeOf);

/**
 * Whether another form is preferred to the one that an answer has by default. It must be named: a wildcard means the
 * default. A header that accepts neither gets the default too, because the error catalogue has no code for 406.
 */
export const prefers = (
  accept: string | undefined,
  isOther: (range: AcceptedRange) => boolean,
  byDefault: string,
): boolean => {
  const ranges = acceptedRanges(accept);
  const other = ranges.find(isOther)?.weight ?? 0;
  const usual = ranges.find(({ mediaType }) => mediaType === byDefault);
  return other > 0 && (usual === undefined || other > usual.weight);
};

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

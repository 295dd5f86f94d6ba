import { IsString, MaxLength } from 'class-validator';
import { REASON_MAX_CHARACTERS } from '#libs/domain/kernel';
import { IfPresent } from './shape.js';

/** A reason that a person may give: `checkedReason` of the domain says the rest, this keeps what is too long out early. */
export const ReasonText = (): PropertyDecorator => {
  const rules = [
    IfPresent(),
    IsString({ message: 'must be a string' }),
    MaxLength(REASON_MAX_CHARACTERS, { message: `must have at most ${REASON_MAX_CHARACTERS} characters` }),
  ];
  return (target, property) => rules.forEach((rule) => rule(target, property));
};

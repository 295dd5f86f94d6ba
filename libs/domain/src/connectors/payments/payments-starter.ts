/** A policy to begin with; {name} is the connector's. */
export const PAYMENTS_STARTER = `version: 1
default: deny
rules:
  - id: payments-reads
    description: Reading changes nothing.
    match:
      tools:
        - {name}.*
      side_effect:
        - read
    decision: allow
  - id: payments-small-refunds
    description: Up to 50.00 of a charge that nobody disputes, within 90 days.
    match:
      tools:
        - {name}.create_refund
    when: >-
      has(request.payments) && request.payments.disputed == false
      && request.payments.charge_age_days != null && request.payments.charge_age_days <= 90 && args.amount <= 5000
    decision: allow
  - id: payments-changes
    description: Every other change, and a refund whose charge could not be read, waits for a person.
    match:
      tools:
        - {name}.*
    decision: require_approval
    approval:
      approvers:
        - role:admin
      expires_in: 1h
budgets:
  - id: payments-refunds-a-day
    match:
      tools:
        - {name}.create_refund
    period: day
    max_spend:
      amount: 100000
      currency: eur
`;

"""A program of a client: it reads answers with the generated classes, and checks that they lose nothing."""

import json
import os
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "generated"))
import v1  # noqa: E402


def call(method, path, body=None):
    request = urllib.request.Request(
        os.environ["ORIGIN"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["KEY"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def lost(sent, kept):
    """What the classes lost. They leave out an optional key whose value is null."""
    if isinstance(sent, dict) and isinstance(kept, dict):
        return {
            name: found
            for name in {*sent, *kept}
            if (found := lost(sent.get(name), kept.get(name))) is not None
        } or None
    if isinstance(sent, list) and isinstance(kept, list) and len(sent) == len(kept):
        return [found for a, b in zip(sent, kept) if (found := lost(a, b)) is not None] or None
    return None if sent == kept else [sent, kept]


def read(generated, answer):
    status, body = answer
    value = generated.from_dict(body)
    difference = lost(body, value.to_dict())
    if difference is not None:
        raise AssertionError(f"{generated.__name__} loses {difference}")
    return status, value


def main():
    _, accounts = read(v1.AccountList, call("GET", "/v1/accounts?limit=2"))
    _, partner = read(v1.Account, call("GET", "/v1/accounts/" + accounts.data[0].id))
    _, deposit = read(v1.Deposit, call("POST", "/v1/deposits", {"amount": "12.00", "currency": "USD"}))
    _, page = read(v1.DepositList, call("GET", "/v1/deposits?status=completed"))
    _, balance = read(v1.Balance, call("GET", "/v1/balance"))
    _, receivables = read(v1.ReceivableList, call("GET", "/v1/receivables"))
    _, events = read(v1.EventList, call("GET", "/v1/events"))
    status, error = read(v1.Error, call("POST", "/v1/deposits", {"amount": "-1", "colour": "red"}))
    print(
        json.dumps(
            {
                "partner": partner.nickname,
                "deposit": [deposit.status.value, deposit.amount],
                "page": [each.amount for each in page.data],
                "balance": balance.account_id,
                "receivables": [each.invoice.reference_number for each in receivables.data],
                "events": len(events.data),
                "refused": [status, sorted(each.code.value for each in error.errors)],
            }
        )
    )


main()

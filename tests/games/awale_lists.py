"""Awalé with plain lists: the slow reference of tests and of the soak."""

import copy


class Naive:
    """Both rule sets with lists, written from the rules' text alone; the board is in seats' absolute order."""

    def __init__(self, pits, seeds, ruleset):
        self.pits, self.ruleset = pits, ruleset
        self.board, self.stores, self.seat = [seeds] * (2 * pits), [0, 0], 0
        self.total, self.over = 2 * pits * seeds, False
        self.past = [self.key()]
        self.end_if_over()

    def key(self):
        turn = self.seat * self.pits
        seen = tuple(self.board[turn:] + self.board[:turn])
        return seen if self.ruleset == "tamale" else (seen, self.seat)

    def side(self, seat):
        return range(seat * self.pits, (seat + 1) * self.pits)

    def after(self, pit):
        """Return (board, gain) after the mover's pit."""
        board, place = list(self.board), self.seat * self.pits + pit
        origin, hand, board[place] = place, self.board[place], 0
        while hand:
            place = (place + 1) % len(board)
            if place != origin:
                board[place] += 1
                hand -= 1
        sown, gain = list(board), 0
        while place in self.side(1 - self.seat) and board[place] in (2, 3):
            gain += board[place]
            board[place] = 0
            place = (place - 1) % len(board)
        if self.ruleset == "abapa" and not any(board[i] for i in self.side(1 - self.seat)):
            return sown, 0
        return board, gain

    def legal(self):
        if self.over:
            return []
        result = []
        for pit in range(self.pits):
            if self.board[self.seat * self.pits + pit]:
                board, _ = self.after(pit)
                if any(board[i] for i in self.side(1 - self.seat)):
                    result.append(pit)
        return result

    def completes(self, pit):
        trial = copy.copy(self)
        trial.board, trial.stores, trial.past = list(self.board), list(self.stores), list(self.past)
        trial.play(pit)
        return trial.repeated

    def play(self, pit):
        self.board, gain = self.after(pit)
        self.stores[self.seat] += gain
        self.seat = 1 - self.seat
        self.repeated = self.key() in self.past
        self.past.append(self.key())
        if self.repeated and self.ruleset == "tamale":
            self.over = True
            for seat in (0, 1):
                self.stores[seat] += sum(self.board) // 2
            odd, first = sum(self.board) % 2, self.seat * self.pits
            order = [(first + i) % len(self.board) for i in range(len(self.board))]
            kept = next(i for i in order if self.board[i])
            self.board = [odd if i == kept else 0 for i in range(len(self.board))]
        else:
            self.end_if_over(self.repeated)

    def end_if_over(self, repeated=False):
        if self.ruleset == "tamale":
            if not self.legal():
                self.over = True
                self.stores[1 - self.seat] += sum(self.board)
                self.board = [0] * len(self.board)
        elif repeated or not self.legal() or max(self.stores) * 2 > self.total:
            self.over = True
            for seat in (0, 1):
                self.stores[seat] += sum(self.board[i] for i in self.side(seat))
            self.board = [0] * len(self.board)

    def text(self):
        turn = self.seat * self.pits
        numbers = ",".join(map(str, self.board[turn:] + self.board[:turn]))
        mat = " mat" if self.over and any(self.board) else ""
        return f"{numbers};{self.stores[self.seat]},{self.stores[1 - self.seat]} {self.seat}{mat}"

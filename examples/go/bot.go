// The same over a client of openapi-generator (go). At the end it reads the game's record.
package main

import (
	"bot/ludotheque"
	"context"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

// ok returns an answer, or ends the program if there is none.
func ok[T any](answer T, _ *http.Response, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return answer
}

func main() {
	url, ruleset := os.Args[1], os.Args[2]
	seats, _ := strconv.Atoi(os.Args[3])
	settings := ludotheque.NewConfiguration()
	settings.Servers = ludotheque.ServerConfigurations{{URL: url}}
	api := ludotheque.NewAPIClient(settings)

	ada := *ludotheque.NewNewPlayerBody("Ada", ludotheque.PLAYERKIND_BOT)
	player := ok(api.PlayersAPI.CreatePlayer(context.Background()).NewPlayerBody(ada).Execute())
	me := context.WithValue(context.Background(), ludotheque.ContextAccessToken, player.Token)

	// A seat beside players who want the same; after five seconds the house takes the empty ones.
	wish := *ludotheque.NewMatchBody(ruleset, int32(seats))
	wish.SetTurnSeconds(60)
	wish.SetHouseAfterSeconds(5)
	key := strconv.FormatInt(time.Now().UnixNano(), 36)
	mine := ok(api.GamesAPI.QuickMatch(me).MatchBody(wish).IdempotencyKey(key).Execute())

	var over *ludotheque.EndedGame
	request := api.MeAPI.ListTurns(me).Wait(20)
	for over == nil {
		turns := ok(request.Execute())
		for _, game := range turns.Items {
			move := game.LegalMoves[rand.Intn(len(game.LegalMoves))]
			choice := *ludotheque.NewMoveBody(*game.Turn.Get(), move)
			played, response, err := api.PlayAPI.PlayMove(me, game.Id).MoveBody(choice).Execute()
			if response == nil || response.StatusCode != http.StatusConflict {
				ok(played, response, err) // 409: the turn has gone, so look again
			}
		}
		for _, ended := range turns.Ended {
			if ended.Id == mine.Id {
				over = &ended
			}
		}
		request = request.Since(turns.Cursor)
	}

	result := over.Result.Get()
	if result == nil {
		fmt.Println("cancelled")
		return
	}
	moves := 0
	for _, recorded := range ok(api.GamesAPI.GetRecord(me, mine.Id).Execute()).Moves {
		if recorded.MadeMove != nil && recorded.MadeMove.Seat == *mine.You.Get() {
			moves++
		}
	}
	fmt.Println("moves:", moves, "winners:", result.Winners)
}
